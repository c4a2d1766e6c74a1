package validation

import (
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func indexedParam(param string, i int) string { return param + "[" + strconv.Itoa(i) + "]" }

// shorten limits the length of untrusted text that an error message quotes.
func shorten(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// orEmpty returns a non-nil list, because JSON must contain [] and not null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
