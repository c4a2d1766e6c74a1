package intake

import (
	"maps"
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
)

// ColumnNames maps built-in fields (phone, timezone, country, name) to the columns that hold them. Names match
// without regard to case, spaces and punctuation. Default: the column has the name of the field. If a field is mapped
// to another column, a column with the field's own name becomes the context variable file_<name>.
type ColumnNames map[string]string

// apply replaces, in names, the name of each mapped column by the name of its field. A problem in the returned error
// names the request parameter that selects the column, such as phone_column.
func (as ColumnNames) apply(names []string) error {
	var p domain.Problems
	fields := make(map[int]string, len(as))
	for _, field := range slices.Sorted(maps.Keys(as)) {
		column := trimSpace(as[field])
		if column == "" {
			continue
		}
		param := field + "_column"
		at := columnsOf(names, column)
		switch {
		case len(at) == 0:
			p.Add(param, domain.CodeValidation, "the file has no column %.100q", column)
		case len(at) > 1:
			p.Add(param, domain.CodeValidation, "the file has %d columns named %.100q", len(at), column)
		case fields[at[0]] != "":
			p.Add(param, domain.CodeValidation, "the column %.100q is already used for %s", column, fields[at[0]])
		default:
			fields[at[0]] = field
		}
	}
	for _, field := range fields {
		for i, name := range names {
			if normalizeName(name) == field {
				names[i] = "file_" + field
			}
		}
	}
	for i, field := range fields {
		names[i] = field
	}
	return p.Err()
}

// columnsOf returns the indexes of the columns with a name. It looks for exact matches first, then for matches without
// regard to case, then without regard to spaces and punctuation.
func columnsOf(names []string, name string) (at []int) {
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold, func(a, b string) bool { return normalizeName(a) == normalizeName(b) && normalizeName(a) != "" }} {
		for i, n := range names {
			if same(n, name) {
				at = append(at, i)
			}
		}
		if len(at) > 0 {
			break
		}
	}
	return at
}
