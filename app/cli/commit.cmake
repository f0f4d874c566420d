# Writes OUTPUT, a header with the commit of SOURCES, when it has changed: cmake -D SOURCES=.. -D OUTPUT=.. -P ..
# It runs in every build. Sources without their repository have no commit.
set(commit "unknown")
execute_process(COMMAND git -C ${SOURCES} rev-parse --show-prefix
                OUTPUT_VARIABLE below RESULT_VARIABLE status ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
if(status EQUAL 0 AND below STREQUAL "")  # not inside the repository of something else
  execute_process(COMMAND git -C ${SOURCES} describe --always --exclude=* --abbrev=10 "--dirty= with changes"
                  OUTPUT_VARIABLE found RESULT_VARIABLE status ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(status EQUAL 0)
    set(commit "${found}")
  endif()
endif()
set(text "#define FOVEA_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUTPUT} "${text}")
endif()
