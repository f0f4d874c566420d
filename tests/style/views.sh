#!/usr/bin/env bash
# Checks that no source asks the table of views for a single one:  bash tests/style/views.sh
# A view is a file in core/views/ and a row of the table; what is special about it is a member of its row. Only figures
# of papers, and the pages about a head in a report, are about certain views.
set -euo pipefail
cd "$(dirname "$0")/../.."
if grep -rnE '(find_view|view_from|find_view_field)\("|->id [!=]= "' app core kernels --include='*.h' --include='*.cpp' |
  grep -vE '^(core/views/|app/papers/|app/report/head_pages.cpp:)'; then
  echo 'expected a member of ViewKind (core/views/view_kind.h) in place of the name of a view'
  exit 1
fi
