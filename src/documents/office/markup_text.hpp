// Texts of programs in XML, in which markup is written as text: "&lt;b&gt;new&lt;/b&gt;".
#pragma once

#include <string_view>

#include "documents/office/xml_text.hpp"

namespace lapilli::documents {

// Adds the words of a range; written tags are tags among them. `qt`: so is the sign of a key ("&amp;File"), and counts
// ("%n") stay.
void add_markup_text(PartBuilder& builder, std::string_view bytes, Range range, bool qt);

// A number for a tag's name, apart from the small numbers.
uint32_t key_of_name(std::string_view name);

// The bytes in front of a part and behind it, within the range that it was read from.
Range range_before(Range whole, const Part& part);
Range range_behind(Range whole, const Part& part);

}  // namespace lapilli::documents
