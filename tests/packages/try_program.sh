# Sourced in a root: try_program PROGRAM EXAMPLE tries the commands that need no display.
try_program() {
  local program=$1 example=$2 status=0
  mkdir -p /tmp/tried /tmp/home
  "$program" --version
  "$program" info "$example" | head -n 3
  "$program" compute "$example" --variant h1d --layer 1 --head 10 | head -n 12
  "$program" render "$example" --layer 1 --head 10 --variant exact --variant h1d --view heatmap --view error \
    --dpi 150 -o /tmp/tried/heads.png
  for ending in pdf svg; do
    "$program" render "$example" --variant exact --view heatmap -o /tmp/tried/heads.$ending
  done
  grep -q DejaVuSans /tmp/tried/heads.pdf  # the letters of figures are there, not a substitute
  "$program" info "$(dirname "$example")/../image/cat.jpg" | grep -q patches  # read by the bundled model
  "$program" compute bundled:text --text "The cat sat on the mat." --layer 4 --head 10 --variant exact | head -n 4
  # Without a GPU the CUDA back end is absent, and says why.
  "$program" compute "$example" --variant exact --backend cuda >/dev/null 2>/tmp/tried/cuda || status=$?
  cat /tmp/tried/cuda
  [ $status = 4 ] || { echo "--backend cuda ended with $status; expected 4"; exit 1; }
}
