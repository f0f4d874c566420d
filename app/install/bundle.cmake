# The program with its libraries, Qt's plugins and fonts beside it: bin/fovea, lib/fovea/, share/fovea/fonts/.
# What stays the system's: glibc and the drivers of graphics and of CUDA.
#
# The program's DT_RPATH (not DT_RUNPATH, which would not hold for the libraries of libraries and of plugins) names
# lib/fovea first. Libraries that a graphics driver brings too are taken from the system where it has them, since a
# process can have one of them only, and from lib/fovea/otherwise where it has none.
set(system_folders /lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /lib64 /usr/lib64
    /lib /usr/lib)
set(bundled_rpath "$ORIGIN/../lib/fovea" ${system_folders} "$ORIGIN/../lib/fovea/otherwise")

add_executable(fovea_bundled ${PROJECT_SOURCE_DIR}/app/cli/main.cpp)
target_link_libraries(fovea_bundled PRIVATE fovea_cli fovea_interaction fovea_options)
target_link_options(fovea_bundled PRIVATE -Wl,--disable-new-dtags)
set_target_properties(fovea_bundled PROPERTIES OUTPUT_NAME fovea INSTALL_RPATH "${bundled_rpath}"
                      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bundle)
install(TARGETS fovea_bundled DESTINATION bin COMPONENT bundle EXCLUDE_FROM_ALL)

# Qt's plugins that the program can use; those of formats of images as in the window's dialogs.
get_target_property(qmake Qt6::qmake IMPORTED_LOCATION)
execute_process(COMMAND ${qmake} -query QT_INSTALL_PLUGINS OUTPUT_VARIABLE plugins
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(bundled_plugins platforms/libqxcb.so platforms/libqoffscreen.so
    xcbglintegrations/libqxcb-glx-integration.so xcbglintegrations/libqxcb-egl-integration.so
    platforminputcontexts/libcomposeplatforminputcontextplugin.so
    platforminputcontexts/libibusplatforminputcontextplugin.so iconengines/libqsvgicon.so)
file(GLOB formats RELATIVE ${plugins} ${plugins}/imageformats/*.so)
list(APPEND bundled_plugins ${formats})
foreach(plugin platforms/libqxcb.so imageformats/libqsvg.so imageformats/libqjpeg.so imageformats/libqwebp.so)
  if(NOT EXISTS ${plugins}/${plugin})
    message(FATAL_ERROR "FOVEA_BUNDLE needs Qt's plugin ${plugin}, expected in ${plugins}")
  endif()
endforeach()

find_path(FOVEA_DEJAVU DejaVuSans.ttf PATHS /usr/share/fonts/truetype/dejavu REQUIRED
          DOC "Folder of the fonts DejaVu, which are bundled")
install(FILES ${FOVEA_DEJAVU}/DejaVuSans.ttf ${FOVEA_DEJAVU}/DejaVuSans-Bold.ttf ${FOVEA_DEJAVU}/DejaVuSansMono.ttf
        fonts.conf DESTINATION share/fovea/fonts COMPONENT bundle EXCLUDE_FROM_ALL)
find_library(FOVEA_LIBGL libGL.so.1 REQUIRED DOC "libGL.so.1, which Dear ImGui opens when the program runs")
install(FILES qt.conf DESTINATION bin COMPONENT bundle EXCLUDE_FROM_ALL)

configure_file(libraries.cmake.in libraries.cmake @ONLY)
install(SCRIPT ${CMAKE_CURRENT_BINARY_DIR}/libraries.cmake COMPONENT bundle EXCLUDE_FROM_ALL)
