package golang

import (
	"fmt"
	"go/format"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// sharedFile is the base name of the file with the types that several tags use.
const sharedFile = "types"

// fileName returns the name of the generated file for a tag of the OpenAPI document.
func fileName(tag string) string {
	plain := func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return '_'
	}
	return "api_" + strings.Map(plain, tag) + ".go"
}

// schemasOf returns the sorted names of the schemas whose types belong in a file. places maps a schema to its file.
func schemasOf(places map[string]string, file string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(places)) {
		if places[name] == file {
			names = append(names, name)
		}
	}
	return names
}

// writeFile returns the Go source of one file, with its methods and the types of its schemas.
func (w *writer) writeFile(pack string, methods []*clientMethod, schemas []string) ([]byte, error) {
	w.out.Reset()
	for _, m := range methods {
		w.writeMethod(m)
	}
	for _, name := range schemas {
		w.writeStruct(name)
	}
	body := w.out.String()
	w.out.Reset()
	w.printf("// Code generated from the OpenAPI document of the service. DO NOT EDIT.\n\npackage %s\n\nimport (", pack)
	for _, path := range importsOf(body) {
		w.printf("%q", path)
	}
	w.printf(")\n\n%s", body)
	text, err := format.Source(w.out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("golang: %w", err)
	}
	return text, nil
}

// importsOf returns the packages that a Go source uses. It ignores comments.
func importsOf(body string) []string {
	used := make(map[string]bool)
	for line := range strings.Lines(body) {
		if strings.HasPrefix(strings.TrimSpace(line), "//") {
			continue
		}
		for _, path := range []string{"context", "encoding/json", "io", "iter", "net/http", "net/url", "strconv", "time"} {
			name := path[strings.LastIndexByte(path, '/')+1:] + "."
			for at := strings.Index(line, name); at >= 0; {
				if at == 0 || strings.IndexByte(" (*[]&!,", line[at-1]) >= 0 {
					used[path] = true
					break
				}
				next := strings.Index(line[at+1:], name)
				if next < 0 {
					break
				}
				at += next + 1
			}
		}
	}
	return slices.Sorted(maps.Keys(used))
}
