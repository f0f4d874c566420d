# Decides whether the CUDA back end is built (FOVEA_HAS_CUDA) and for which GPUs (CMAKE_CUDA_ARCHITECTURES).
#   FOVEA_CUDA=AUTO  where nvcc is found: for CMAKE_CUDA_ARCHITECTURES, if given; otherwise for the GPUs
#                    of this machine, or not at all where there is none
#   FOVEA_CUDA=ON    for CMAKE_CUDA_ARCHITECTURES, if given; otherwise for every supported GPU
#   FOVEA_CUDA=OFF   never
set(supported_gpus 75-real 80-real 86-real 89-real 90)
set(FOVEA_HAS_CUDA OFF)
set(reason "")

# The architectures of this machine's GPUs, of compute capability 7.5 and up: "80-real", for example. GPUs
# above 9.0, which nvcc may not know, compile the PTX of 9.0 when they load it.
function(find_gpus out)
  set(found "")
  find_program(NVIDIA_SMI nvidia-smi HINTS /usr/lib/wsl/lib)
  if(NVIDIA_SMI)
    execute_process(COMMAND ${NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE capabilities RESULT_VARIABLE status ERROR_QUIET)
    if(NOT status EQUAL 0)  # then the output is a message
      set(capabilities "")
    endif()
    string(REGEX MATCHALL "[0-9]+\\.[0-9]" capabilities "${capabilities}")
    foreach(capability ${capabilities})
      if(capability VERSION_GREATER 9.0)
        list(APPEND found 90)
      elseif(capability VERSION_GREATER_EQUAL 7.5)
        string(REPLACE "." "" capability ${capability})
        list(APPEND found ${capability}-real)
      endif()
    endforeach()
    list(REMOVE_DUPLICATES found)
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

if(FOVEA_CUDA STREQUAL AUTO)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    find_gpus(CMAKE_CUDA_ARCHITECTURES)
  endif()
  if(CMAKE_CUDA_ARCHITECTURES)
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      set(FOVEA_HAS_CUDA ON)
    else()
      set(reason "no CUDA compiler was found")
    endif()
  else()
    set(reason "this machine has no NVIDIA GPU of compute capability 7.5 or higher")
  endif()
elseif(FOVEA_CUDA)
  set(FOVEA_HAS_CUDA ON)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES ${supported_gpus})
  endif()
endif()

if(reason)
  message("fovea: building without the CUDA back end: ${reason} (-DFOVEA_CUDA=ON builds it for all GPUs)")
endif()
