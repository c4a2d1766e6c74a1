package intake

import (
	"slices"
	"strings"
	"unicode"

	"github.com/callboard/callboard/domain"
)

// Columns matches the columns of a CSV file to the fields of a contact.
type Columns struct {
	Named     ColumnNames          // set by the request
	Variables []string             // declared by the pathway
	Mapping   domain.ColumnMapping // the result, set after the header is read
}

// BuiltinFields are the fields of a contact that a column can hold without a
// variable of the pathway.
func BuiltinFields() []string { return []string{"phone", "timezone", "country", "name"} }

// match returns the field of each column, in the order of the headers, and sets
// Mapping. Headers match without regard to case, spaces and punctuation. Two
// columns for one field are an error.
func (c *Columns) match(headers []string) ([]string, error) {
	kept := slices.Clone(headers)
	if err := c.Named.apply(kept); err != nil {
		return nil, err
	}
	c.Mapping = domain.ColumnMapping{}.WithoutNil()
	from := make(map[string]string, len(kept)) // by the name that is kept
	for i, name := range kept {
		if name == "" {
			continue
		}
		field := c.targetField(name)
		if field != "" {
			kept[i] = field
			c.Mapping.Columns[headers[i]] = field
		} else {
			c.Mapping.Unmapped = append(c.Mapping.Unmapped, headers[i])
		}
		other, twice := from[kept[i]]
		switch {
		case twice && other == headers[i]:
			return nil, headerError("two columns have the same name")
		case twice:
			var p domain.Problems
			p.Add("header", domain.CodeValidation, "the columns %.100q and %.100q both hold %.100q: rename or remove one of them", other, headers[i], kept[i])
			return nil, p.Err()
		}
		from[kept[i]] = headers[i]
	}
	for _, v := range c.Variables {
		if _, given := from[v]; !given {
			c.Mapping.Missing = append(c.Mapping.Missing, v)
		}
	}
	return kept, nil
}

// targetField is the field that a column of this name holds; "": neither a
// built-in field nor a variable.
func (c *Columns) targetField(name string) string {
	folded := normalizeName(name)
	if folded == "" {
		return ""
	}
	if slices.Contains(c.Variables, name) {
		return name
	}
	for _, field := range append(BuiltinFields(), c.Variables...) {
		if normalizeName(field) == folded {
			return field
		}
	}
	return ""
}

// normalizeName is a name without case, spaces and punctuation.
func normalizeName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}
