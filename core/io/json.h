// Reading JSON from files that cannot be trusted.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <string_view>

namespace fovea {

using Json = nlohmann::json;

/// An upper bound on the bytes of memory that the values of a text take while they are made, and
/// while they are destroyed.
double json_bytes(std::string_view text);

/// Throws InputError with the position for a syntax error, ill-formed UTF-8, a name that occurs
/// twice in an object, or nesting deeper than any file that Fovea reads needs; UnavailableError
/// where its values would not fit into the memory budget; Cancelled.
Json parse_json(const std::string& where, std::string_view text, const std::stop_token& stop = {});

using JsonEntry = std::function<void(const std::string& name, const Json& value)>;

/// Calls `entry` for each entry of an object, in the order of the text, and keeps none of them. A
/// name may come twice. Throws as parse_json does, what `entry` throws, and InputError for a
/// document that is no object.
void parse_entries(const std::string& where, std::string_view text, const std::stop_token& stop,
                   JsonEntry entry);

/// "a number", "a list", ... for messages.
std::string kind_of(const Json& value);

/// The value as JSON in ASCII, cut off where a message would become unreadable.
std::string excerpt(const Json& value);

}  // namespace fovea
