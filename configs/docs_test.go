package configs_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/configs"
)

// page is what the documentation has to say between its markers.
func page() string {
	var b strings.Builder
	cell := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
	code := func(s string) string {
		if s == "" {
			return "–"
		}
		return "`" + s + "`"
	}
	group := ""
	for _, s := range configs.Settings() {
		if s.Group != group {
			group = s.Group
			b.WriteString("\n### " + group + "\n\n| in the file | in the environment | flag | default | what for | must be |\n|---|---|---|---|---|---|\n")
		}
		flag := ""
		if s.Flag != "" {
			flag = "--" + s.Flag
		}
		b.WriteString("| " + strings.Join([]string{code(s.Key), code(s.Env), code(flag), code(s.Default), cell(s.Doc), cell(s.Rule)}, " | ") + " |\n")
	}
	return b.String()
}

func TestTheDocumentationListsEverySettingAsItIs(t *testing.T) {
	const path = "../docs/configuration.md"
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "<!-- settings -->\n")
	require.True(t, found, "no <!-- settings --> in %s", path)
	between, rest, found := strings.Cut(after, "\n<!-- end of settings -->")
	require.True(t, found, "no <!-- end of settings --> in %s", path)
	if os.Getenv("UPDATE_DOCS") != "" {
		head := strings.TrimSuffix(string(text), after)
		require.NoError(t, os.WriteFile(path, []byte(head+page()+"\n<!-- end of settings -->"+rest), 0o600))
		return
	}
	assert.Equal(t, page(), between, "run: UPDATE_DOCS=1 go test ./configs")
}

// unset are variables that are no settings of the service, and why.
var unset = map[string]string{ //nolint:gochecknoglobals // a list
	"CALLBOARD_URL": "the command line's own", "CALLBOARD_KEY": "the same", "CALLBOARD_PROFILE": "the same", "CALLBOARD_PROFILES": "the same",
	"CALLBOARD_SIP_ADR": "shows what a slip of the pen gives", "CALLBOARD_PORT": "comes of Docker and Kubernetes", "CALLBOARD_SERVICE": "the same",
}

func TestEveryVariableThatIsNamedAnywhereIsASetting(t *testing.T) {
	known := slices.Collect(maps.Keys(unset))
	for _, s := range configs.Settings() {
		known = append(known, s.Env)
	}
	name, n := regexp.MustCompile(`CALLBOARD_[A-Z0-9_]*[A-Z0-9]`), 0
	for _, pattern := range []string{"../*.md", "../docs/*.md", "../deploy/*/*", "../deploy/helm/callboard/templates/*"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range files {
			if info, err := os.Stat(path); err != nil || info.IsDir() {
				continue
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, found := range name.FindAllString(string(text), -1) {
				n++
				assert.Contains(t, known, found, path)
			}
		}
	}
	assert.Greater(t, n, 60)
}
