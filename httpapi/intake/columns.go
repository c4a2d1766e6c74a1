package intake

import (
	"slices"
	"strings"
	"unicode"

	"github.com/callboard/callboard/domain"
)

// Columns says which columns of a CSV file hold which fields of a contact.
type Columns struct {
	Named     ColumnNames          // from the parameters of the request
	Variables []string             // variables that the pathway declares
	Mapping   domain.ColumnMapping // the result, set after the header is read
}

// BuiltinFields returns the contact fields that need no variable in the pathway.
func BuiltinFields() []string { return []string{"phone", "timezone", "country", "name"} }

// match returns the field of each column, in the order of the headers, and sets Mapping. Headers match without
// regard to case, spaces and punctuation. It returns an error if two columns match one field.
func (c *Columns) match(headers []string) ([]string, error) {
	columns := slices.Clone(headers)
	if err := c.Named.apply(columns); err != nil {
		return nil, err
	}
	c.Mapping = domain.ColumnMapping{}.WithoutNil()
	from := make(map[string]string, len(columns)) // header by field
	for i, name := range columns {
		if name == "" {
			continue
		}
		field := c.targetField(name)
		if field != "" {
			columns[i] = field
			c.Mapping.Columns[headers[i]] = field
		} else {
			c.Mapping.Unmapped = append(c.Mapping.Unmapped, headers[i])
		}
		other, twice := from[columns[i]]
		switch {
		case twice && other == headers[i]:
			return nil, headerError("two columns have the same name")
		case twice:
			var p domain.Problems
			p.Add("header", domain.CodeValidation, "the columns %.100q and %.100q both hold %.100q: rename or remove one of them", other, headers[i], columns[i])
			return nil, p.Err()
		}
		from[columns[i]] = headers[i]
	}
	for _, v := range c.Variables {
		if _, given := from[v]; !given {
			c.Mapping.Missing = append(c.Mapping.Missing, v)
		}
	}
	return columns, nil
}

// targetField returns the field that a column with this name holds: a built-in field, a variable of the pathway, or
// "" if it is neither.
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

// normalizeName returns a name in lower case, without spaces and punctuation.
func normalizeName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}
