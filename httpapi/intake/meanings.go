package intake

import (
	"maps"
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
)

// Meanings are which columns of a file hold what: phone, timezone, country or
// name → the name of the column, as it is written or in any case. Those that
// are not said are called so themselves. A column that is called so without
// being meant is context as file_<name>.
type Meanings map[string]string

// apply calls columns what they mean. A problem names the parameter by which a
// column was meant: phone_column and the like.
func (as Meanings) apply(names []string) error {
	var p domain.Problems
	meant := make(map[int]string, len(as))
	for _, meaning := range slices.Sorted(maps.Keys(as)) {
		column := trimmed(as[meaning])
		if column == "" {
			continue
		}
		param := meaning + "_column"
		at := columnsOf(names, column)
		switch {
		case len(at) == 0:
			p.Add(param, domain.CodeValidation, "the file has no column %.100q", column)
		case len(at) > 1:
			p.Add(param, domain.CodeValidation, "the file has %d columns %.100q", len(at), column)
		case meant[at[0]] != "":
			p.Add(param, domain.CodeValidation, "the column %.100q is %s already", column, meant[at[0]])
		default:
			meant[at[0]] = meaning
		}
	}
	for _, meaning := range meant {
		for i, name := range names {
			if fold(name) == meaning {
				names[i] = "file_" + meaning
			}
		}
	}
	for i, meaning := range meant {
		names[i] = meaning
	}
	return p.Err()
}

// columnsOf are the places of the columns with a name: of those that are
// written so, else of those that differ by case, spaces and punctuation alone.
func columnsOf(names []string, name string) (at []int) {
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold, func(a, b string) bool { return fold(a) == fold(b) && fold(a) != "" }} {
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
