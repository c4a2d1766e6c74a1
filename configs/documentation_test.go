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

// settingsPage returns the tables that docs/configuration.md must contain between its markers.
func settingsPage() string {
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
			b.WriteString("\n### " + group + "\n\n| YAML key | environment variable | flag | default | description | value must be |\n|---|---|---|---|---|---|\n")
		}
		flag := ""
		if s.Flag != "" {
			flag = "--" + s.Flag
		}
		b.WriteString("| " + strings.Join([]string{code(s.Key), code(s.Env), code(flag), code(s.Default), cell(s.Doc), cell(s.Rule)}, " | ") + " |\n")
	}
	return b.String()
}

func TestDocumentationListsEverySetting(t *testing.T) {
	const path = "../docs/configuration.md"
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "<!-- settings -->\n")
	require.True(t, found, "no <!-- settings --> in %s", path)
	between, rest, found := strings.Cut(after, "\n<!-- end of settings -->")
	require.True(t, found, "no <!-- end of settings --> in %s", path)
	if os.Getenv("UPDATE_DOCS") != "" {
		head := strings.TrimSuffix(string(text), after)
		require.NoError(t, os.WriteFile(path, []byte(head+settingsPage()+"\n<!-- end of settings -->"+rest), 0o600))
		return
	}
	assert.Equal(t, settingsPage(), between, "run: UPDATE_DOCS=1 go test ./configs")
}

// otherVariables lists CALLBOARD_ variables that the documentation names although they are not settings, with the
// reason.
var otherVariables = map[string]string{ //nolint:gochecknoglobals // a list
	"CALLBOARD_URL": "the command-line client reads it", "CALLBOARD_KEY": "the command-line client reads it", "CALLBOARD_PROFILE": "the command-line client reads it", "CALLBOARD_PROFILES": "the command-line client reads it",
	"CALLBOARD_SIP_ADR": "example of a misspelt name", "CALLBOARD_PORT": "Docker and Kubernetes set it", "CALLBOARD_SERVICE": "Kubernetes sets it",
}

func TestVariablesInDocumentationAreSettings(t *testing.T) {
	known := slices.Collect(maps.Keys(otherVariables))
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
