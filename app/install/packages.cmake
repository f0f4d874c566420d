# What CPack makes: a .deb for the libraries of Debian, and a .tar.gz with its own.
set(CPACK_PACKAGE_NAME fovea)
set(CPACK_PACKAGE_VENDOR "The Fovea authors")
set(CPACK_PACKAGE_CONTACT "The Fovea authors <authors@fovea.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "microscope for attention")
set(CPACK_PACKAGE_DESCRIPTION
    "Fovea computes exact softmax attention and efficient attentions of a head
side by side, and shows what each of them keeps and loses: heatmaps, errors,
masks, numerical ranks, cost and time.")
set(CPACK_GENERATOR DEB)
if(FOVEA_BUNDLE)
  list(APPEND CPACK_GENERATOR TGZ)
endif()
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_SOURCE_DIR}/generators.cmake)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_COMPONENTS_ALL common program)  # by format: generators.cmake

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# And what dpkg-shlibdeps finds; Dear ImGui opens libGL.so.1 when the program runs.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "fonts-dejavu-core, libgl1")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libgl1-mesa-dri | libgl1-nvidia-glvnd-glx, qt6-image-formats-plugins")

set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
set(CPACK_ARCHIVE_FILE_NAME fovea-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_FILE_NAME ${CPACK_ARCHIVE_FILE_NAME})
include(CPack)
