package intake

import (
	"slices"
	"strings"
	"unicode"

	"github.com/callboard/callboard/domain"
)

// Columns says how the columns of a CSV file are matched to what they hold.
type Columns struct {
	Named     Meanings             // by the request
	Variables []string             // that the pathway declares
	Mapping   domain.ColumnMapping // is set when the header has been read
}

// known are the meanings that need no declaration.
func known() []string { return []string{"phone", "timezone", "country", "name"} }

// match returns the names under which the values of columns are kept, and sets
// the mapping. Headers match without regard to case, spaces and punctuation;
// two columns with one meaning are an error.
func (c *Columns) match(headers []string) ([]string, error) {
	kept := slices.Clone(headers)
	if err := c.Named.apply(kept); err != nil {
		return nil, err
	}
	c.Mapping = domain.ColumnMapping{}.Filled()
	from := make(map[string]string, len(kept)) // by the name that is kept
	for i, name := range kept {
		if name == "" {
			continue
		}
		meaning := c.meaning(name)
		if meaning != "" {
			kept[i] = meaning
			c.Mapping.Columns[headers[i]] = meaning
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

// meaning is what a column of a name holds; "": no variable.
func (c *Columns) meaning(name string) string {
	folded := fold(name)
	if folded == "" {
		return ""
	}
	if slices.Contains(c.Variables, name) {
		return name
	}
	for _, meaning := range append(known(), c.Variables...) {
		if fold(meaning) == folded {
			return meaning
		}
	}
	return ""
}

// fold is a name without case, spaces and punctuation.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}
