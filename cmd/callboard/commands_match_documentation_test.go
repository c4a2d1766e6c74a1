package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/eventforward"
)

// runCommandLine runs a command line as main does.
func runCommandLine(t *testing.T, args ...string) (out, errs string, code int) {
	t.Helper()
	root := rootCommand(func() {})
	var o, e bytes.Buffer
	root.SetOut(&o)
	root.SetErr(&e)
	root.SetIn(strings.NewReader(""))
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	if err != nil {
		e.WriteString(err.Error())
	}
	return o.String(), e.String(), cli.ExitCode(err)
}

// Every command has --json, or docs/cli.md lists it as an exception with the reason.
func TestCommandsHaveJSONFlagOrDocumentedException(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/cli.md")
	require.NoError(t, err)
	_, without, found := strings.Cut(string(guide), "\nWithout `--json`: ")
	require.True(t, found)
	without, _, _ = strings.Cut(without, "\n")
	leaves, exempt := 0, 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.HasSubCommands() || c.Hidden {
			return
		}
		leaves++
		if name := strings.TrimPrefix(c.CommandPath(), "callboard "); c.Flags().Lookup("json") == nil {
			exempt++
			word, _, _ := strings.Cut(name, " ")
			assert.Contains(t, without, "`"+word+"`", "callboard %s has no --json, and docs/cli.md gives no reason", name)
		}
	}
	root := rootCommand(func() {})
	root.InitDefaultCompletionCmd()
	walk(root)
	assert.Greater(t, leaves, 80)
	assert.LessOrEqual(t, exempt, 2+4, "serve, openapi and completion for four shells")
}

func TestTriggerPrintsLocalSampleResultAsJSON(t *testing.T) {
	t.Parallel()
	got := make(chan string, 2)
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- string(body)
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(far.Close)
	out, errs, code := runCommandLine(t, "trigger", "call.ended", "--forward-to", far.URL, "--json")
	assert.Equal(t, cli.ExitFailed, code)
	assert.Contains(t, errs, "answered 418")
	var result eventforward.Result
	require.NoError(t, json.Unmarshal([]byte(out), &result), out)
	assert.Equal(t, []any{"call.ended", int64(http.StatusTeapot)}, []any{result.Type, result.Status})
	assert.Contains(t, <-got, result.ID)

	far.Close()
	out, _, code = runCommandLine(t, "trigger", "call.ended", "--forward-to", far.URL, "--json")
	assert.Equal(t, cli.ExitUnreachable, code)
	result = eventforward.Result{}
	require.NoError(t, json.Unmarshal([]byte(out), &result), out)
	assert.Contains(t, result.Error, "refused")
	out, _, _ = runCommandLine(t, "trigger", "call.ended", "--forward-to", far.URL)
	assert.Regexp(t, `^call\.ended  evt_\w+  .*refused\n$`, out)
}

func TestTriggerPrintsServiceSampleResultAsJSON(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer := `{"delivered": true, "event_id": "evt_1", "response_status": 204, "response_time_ms": 7}`
		if strings.Contains(r.URL.Path, "webhook_bad") {
			answer = `{"delivered": false, "event_id": "evt_1", "response_status": 500, "response_time_ms": 7}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	args := []string{"trigger", "call.ended", "--url", s.URL, "--key", "k", "--webhook"}
	out, errs, code := runCommandLine(t, append(args, "webhook_bad", "--json")...)
	assert.Equal(t, cli.ExitFailed, code)
	assert.Contains(t, errs, "answered 500")
	assert.JSONEq(t, `{"type": "call.ended", "id": "evt_1", "status": 500, "response_time_ms": 7}`, out)
	out, _, code = runCommandLine(t, append(args, "webhook_good")...)
	assert.Equal(t, cli.ExitOK, code)
	assert.Equal(t, "call.ended  evt_1  204  7 ms\n", out)
}

var (
	inlineCode          = regexp.MustCompile("`([^`\n]+)`")
	shellBlock          = regexp.MustCompile("(?ms)^ *```(?:sh|sh run|bash)\n(.*?)^ *```$")
	callboardInvocation = regexp.MustCompile(`(?m)(?:^|[\s$("=]|bin/)callboard ([a-z][^\n` + "`" + `]*)`)
	wordTerminator      = regexp.MustCompile(`[;)&<>"'].*$`)
)

// documentedCommands returns the callboard command lines in the text of a page, each split into words.
func documentedCommands(text string) (out [][]string) {
	var code []string
	for _, m := range shellBlock.FindAllStringSubmatch(text, -1) {
		code = append(code, m[1])
	}
	for _, m := range inlineCode.FindAllStringSubmatch(shellBlock.ReplaceAllString(text, ""), -1) {
		code = append(code, m[1])
	}
	for _, part := range code {
		for _, m := range callboardInvocation.FindAllStringSubmatch(part, -1) {
			var words []string
			for w := range strings.FieldsSeq(m[1]) {
				clean := wordTerminator.ReplaceAllString(w, "")
				if w == "|" || w == "||" || strings.HasPrefix(w, "#") || clean == "" && w[0] != '"' && w[0] != '\'' {
					break
				}
				words = append(words, clean)
				if strings.ContainsAny(w, ";)&<>") {
					break
				}
			}
			out = append(out, words)
		}
	}
	return out
}

// describeUnknownPart describes the first subcommand or flag of a command line that the binary does not have.
// Empty if the binary has all of them.
func describeUnknownPart(root *cobra.Command, words []string) string {
	at := []*cobra.Command{root}
	for _, word := range words {
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		for _, c := range at {
			switch {
			case strings.HasPrefix(word, "--"):
				if c.Flags().Lookup(name) == nil && name != "help" {
					return c.CommandPath() + " has no flag --" + name
				}
			case strings.HasPrefix(word, "-") && len(word) == 2:
				if c.Flags().ShorthandLookup(name) == nil {
					return c.CommandPath() + " has no flag -" + name
				}
			}
		}
		if word == "…" {
			return ""
		}
		if strings.HasPrefix(word, "-") || !at[0].HasSubCommands() {
			continue
		}
		var next []*cobra.Command // create|list|revoke names three commands
		for one := range strings.SplitSeq(word, "|") {
			i := slices.IndexFunc(at[0].Commands(), func(c *cobra.Command) bool { return c.Name() == one || c.HasAlias(one) })
			if i < 0 {
				return at[0].CommandPath() + " has no subcommand " + one
			}
			next = append(next, at[0].Commands()[i])
		}
		at = next
	}
	return ""
}

// Every command and flag in the documentation must exist, in code blocks and in running text.
func TestCommandsAndFlagsInDocumentationExist(t *testing.T) {
	t.Parallel()
	root := rootCommand(func() {})
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	var pages []string
	for _, pattern := range []string{"../../README.md", "../../CONTRIBUTING.md", "../../docs/*.md", "../../deploy/sipp/*.md"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		pages = append(pages, found...)
	}
	n := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, words := range documentedCommands(strings.ReplaceAll(string(text), "sudo -u callboard ", "sudo ")) {
			n++
			assert.Empty(t, describeUnknownPart(root, words), "%s shows: callboard %s", page, strings.Join(words, " "))
		}
	}
	assert.Greater(t, n, 100)
	for _, wrong := range []string{"campaigns begin x", "agents list --nonsense", "keys create|lits", "calls recording c -x f"} {
		assert.NotEmpty(t, describeUnknownPart(root, strings.Fields(wrong)), wrong)
	}
}

func TestAPICommandsHaveDescriptionAndExample(t *testing.T) {
	var walk func(c *cobra.Command)
	leaves := 0
	walk = func(c *cobra.Command) {
		assert.NotEmpty(t, c.Short, c.CommandPath())
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.HasSubCommands() {
			return
		}
		leaves++
		assert.Contains(t, c.Example, "callboard "+strings.TrimPrefix(c.CommandPath(), "callboard "), c.CommandPath())
		assert.NotNil(t, c.Flags().Lookup("json"), "%s has no flag --json", c.CommandPath())
		assert.NotNil(t, c.Args, c.CommandPath())
	}
	root := &cobra.Command{Use: "callboard", Short: "-"}
	root.AddCommand(apiCommands()...)
	walk(root)
	assert.Greater(t, leaves, 60)
}
