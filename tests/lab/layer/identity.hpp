// UUIDs and PCI addresses of pretended devices: the settings `uuids` and `addresses`.
#pragma once

#include <cstddef>

namespace lapilli::lab {

// True if addresses are pretended, for which VK_EXT_pci_bus_info is offered.
bool offers_addresses();

// True if anything is pretended.
bool pretends_identity();
// Changes the structs of a chain of properties. `place`: of the device among those of its instance.
void pretend_identity(void* chain, size_t place);

}  // namespace lapilli::lab
