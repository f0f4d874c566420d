#include "window/docks/measuring_page.h"

#include "moc_measuring_page.cpp"
