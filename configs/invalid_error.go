package configs

import (
	"fmt"
	"slices"
	"strings"
)

// Problem describes one invalid setting: its name as the user wrote it, its value without secrets, and the broken rule.
type Problem struct {
	Name  string
	Value string
	Rule  string   // completes "must be …"; empty: there is no setting of this name
	Near  []string // known names that are similar to an unknown Name
}

// String returns the problem as one line for the terminal.
func (p Problem) String() string {
	if p.Rule != "" {
		return fmt.Sprintf("%s = %q: must be %s", p.Name, p.Value, p.Rule)
	}
	line := p.Name + ": there is no such setting"
	if len(p.Near) > 0 {
		line += "; did you mean " + strings.Join(p.Near, " or ") + "?"
	}
	return line
}

// InvalidError lists all invalid settings of a configuration.
type InvalidError struct{ Problems []Problem }

// Error returns the problems, one per line.
func (e *InvalidError) Error() string {
	lines := make([]string, 0, len(e.Problems)+1)
	if len(e.Problems) == 1 {
		lines = append(lines, "a setting is wrong:")
	} else {
		lines = append(lines, fmt.Sprintf("%d settings are wrong:", len(e.Problems)))
	}
	for _, p := range e.Problems {
		lines = append(lines, "  "+p.String())
	}
	return strings.Join(lines, "\n")
}

func (l *loader) isKnownKey(key string) bool { return slices.Contains(l.settingKeys(), key) }

func (l *loader) settingKeys() []string {
	names := make([]string, len(l.settings))
	for i, s := range l.settings {
		names[i] = s.Key
	}
	return names
}

func (l *loader) environmentNames() []string {
	names := make([]string, len(l.settings))
	for i, s := range l.settings {
		names[i] = s.Env
	}
	return names
}

func (l *loader) addUnknownSetting(name, word string, known []string) {
	if known == nil {
		for _, s := range l.settings {
			if s.Flag != "" {
				known = append(known, s.Flag)
			}
		}
	}
	l.problems = append(l.problems, Problem{Name: name, Near: similarNames(word, known)})
}

// similarNames returns at most three known names that resemble word, the most similar first. A name resembles word
// if their edit distance is at most a third of the word's length, or if one contains the other.
func similarNames(word string, known []string) []string {
	const most = 3
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	bare := strings.TrimPrefix(strings.ToUpper(word), EnvPrefix)
	bare = strings.ReplaceAll(bare[:min(len(bare), 64)], "-", "_")
	for _, name := range known {
		other := strings.ReplaceAll(strings.TrimPrefix(strings.ToUpper(name), EnvPrefix), "-", "_")
		distance := editDistance(bare, other)
		inside := len(bare) > 2 && (strings.HasPrefix(other, bare+"_") || strings.HasSuffix(other, "_"+bare) ||
			strings.HasPrefix(bare, other+"_") || strings.HasSuffix(bare, "_"+other))
		if inside || distance <= max(1, len(bare)/3) {
			found = append(found, candidate{name, distance})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	names := make([]string, 0, most)
	for _, c := range found[:min(len(found), most)] {
		names = append(names, c.name)
	}
	return names
}

// editDistance returns the Levenshtein distance of two strings: the number of insertions, deletions and
// replacements.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
