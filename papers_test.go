package callboard_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var link = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]*)?\)`)

func TestEveryLinkOfTheDocumentsLeadsSomewhere(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	require.NoError(t, err)
	pages = append(pages, "deploy/sipp/README.md")
	require.NoError(t, filepath.WalkDir("docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return err
	}))
	links := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			_, err := os.Stat(filepath.Join(filepath.Dir(page), m[1]))
			require.NoError(t, err, "%s links to %s", page, m[1])
		}
	}
	assert.Greater(t, links, 5)
}

var command = regexp.MustCompile(`(?m)^ +(sipp -sf \S+.*)$`)

func TestEveryScenarioIsListedWithItsCommand(t *testing.T) {
	page, err := os.ReadFile("deploy/sipp/README.md")
	require.NoError(t, err)
	scenarios, err := filepath.Glob("deploy/sipp/*.xml")
	require.NoError(t, err)
	assert.Greater(t, len(scenarios), 50)
	for _, path := range scenarios {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		told := command.FindSubmatch(text)
		require.NotNil(t, told, "%s does not say how it is run", path)
		assert.True(t, strings.HasPrefix(string(told[1]), "sipp -sf "+path+" "), "%s says how another one is run: %s", path, told[1])
		file := filepath.Base(path)
		row := "| [" + strings.TrimSuffix(file, ".xml") + "](" + file + ") | "
		_, rest, found := strings.Cut(string(page), row)
		rest, _, _ = strings.Cut(rest, "\n")
		assert.True(t, found && strings.HasSuffix(rest, " | `"+string(told[1])+"` |"), "%s is not listed with: %s", path, told[1])
	}
	assert.Equal(t, len(scenarios), strings.Count(string(page), "\n| ["), "rows for files that are gone")
}

// The summary decides whether the tests held, so it is tested with a run in
// which everything goes wrong that can.
func TestTheSummaryOfATestRunForgivesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		says  []string
		last  string
	}{
		"all well": {
			[]string{
				`{"Action":"run","Package":"a","Test":"TestX"}`, `{"Action":"run","Package":"a","Test":"TestX/one"}`,
				`{"Action":"output","Package":"a","Test":"TestX","Output":"chatter\n"}`,
				`{"Action":"pass","Package":"a","Test":"TestX/one"}`, `{"Action":"pass","Package":"a","Test":"TestX"}`, `{"Action":"pass","Package":"a","Elapsed":1}`,
			},
			[]string{"ok        1.0 s  a"},
			"1 passed, 0 failed",
		},
		"a subtest fails": {
			[]string{
				`{"Action":"run","Package":"a","Test":"TestX"}`, `{"Action":"run","Package":"a","Test":"TestX/one"}`,
				`{"Action":"output","Package":"a","Test":"TestX/one","Output":"because\n"}`,
				`{"Action":"fail","Package":"a","Test":"TestX/one"}`, `{"Action":"fail","Package":"a","Test":"TestX"}`, `{"Action":"fail","Package":"a"}`,
			},
			[]string{"FAIL", "because"},
			"0 passed, 1 failed",
		},
		"a test is skipped": {
			[]string{
				`{"Action":"run","Package":"a","Test":"TestX"}`, `{"Action":"output","Package":"a","Test":"TestX","Output":"no sipp\n"}`,
				`{"Action":"skip","Package":"a","Test":"TestX"}`, `{"Action":"pass","Package":"a"}`,
			},
			[]string{"skipped, which proves nothing: TestX", "no sipp"},
			"0 passed, 1 failed",
		},
		"a test never ends": {
			[]string{
				`{"Action":"run","Package":"a","Test":"TestX"}`, `{"Action":"output","Package":"a","Test":"TestX","Output":"panic: test timed out\n"}`,
				`{"Action":"fail","Package":"a"}`,
			},
			[]string{"did not end: TestX", "timed out"},
			"0 passed, 1 failed",
		},
		"a package does not build": {
			[]string{
				`{"Action":"build-output","ImportPath":"a [a.test]","Output":"a.go:1: wrong\n"}`, `{"Action":"build-fail","ImportPath":"a [a.test]"}`,
				`{"Action":"fail","Package":"a","FailedBuild":"a [a.test]"}`,
			},
			[]string{"a.go:1: wrong", "does not build"},
			"0 passed, 1 failed",
		},
		"a package ends by itself": {
			[]string{
				`{"Action":"run","Package":"a","Test":"TestX"}`, `{"Action":"pass","Package":"a","Test":"TestX"}`,
				`{"Action":"output","Package":"a","Output":"exit status 3\n"}`, `{"Action":"fail","Package":"a"}`,
			},
			[]string{"exit status 3"},
			"1 passed, 1 failed",
		},
		"the go command fails, and nobody says where": {
			[]string{`{"Action":"run","Package":"a","Test":"TestX"}`, `{"Action":"pass","Package":"a","Test":"TestX"}`, `{"Action":"pass","Package":"a","Elapsed":1}`, `{"Exit":1}`},
			nil, "1 passed, 1 failed",
		},
		"nothing ran": {nil, nil, "0 passed, 0 failed"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), ".ci/summary")
			cmd.Stdin = strings.NewReader(strings.Join(c.lines, "\n") + "\n")
			out, err := cmd.Output()
			text := strings.TrimSpace(string(out))
			for _, s := range c.says {
				assert.Contains(t, text, s)
			}
			assert.NotContains(t, text, "chatter")
			assert.Equal(t, c.last, text[strings.LastIndexByte(text, '\n')+1:])
			if c.last == "1 passed, 0 failed" {
				assert.NoError(t, err)
			} else {
				assert.Error(t, err)
			}
		})
	}
}

// What failed while the machine was taken away has one more try, and nothing
// else has.
func TestTheSummaryRunsAgainOnlyWhatTheMachineMayHaveSpoilt(t *testing.T) {
	fails := []string{
		`{"Action":"run","Package":"a","Test":"TestX"}`, `{"Action":"run","Package":"a","Test":"TestX/one"}`,
		`{"Action":"output","Package":"a","Test":"TestX/one","Output":"too late\n"}`,
		`{"Action":"fail","Package":"a","Test":"TestX/one"}`, `{"Action":"fail","Package":"a","Test":"TestX"}`,
		`{"Action":"run","Package":"a","Test":"TestY"}`, `{"Action":"pass","Package":"a","Test":"TestY"}`,
		`{"Action":"fail","Package":"a"}`, `{"Exit":1}`,
	}
	passes := []string{
		`{"Action":"run","Package":"a","Test":"TestX"}`, `{"Action":"run","Package":"a","Test":"TestX/one"}`,
		`{"Action":"pass","Package":"a","Test":"TestX/one"}`, `{"Action":"pass","Package":"a","Test":"TestX"}`, `{"Action":"pass","Package":"a"}`,
	}
	for name, c := range map[string]struct {
		stolen string
		lines  []string
		again  []string
		asked  string
		last   string
	}{
		"it passes alone":             {"0", fails, passes, "-run ^TestX$ a\n", "2 passed, 0 failed"},
		"it fails alone":              {"0", fails, fails[:5], "-run ^TestX$ a\n", "1 passed, 1 failed"},
		"it does not build any more":  {"0", fails, nil, "-run ^TestX$ a\n", "1 passed, 1 failed"},
		"the machine was all ours":    {"101", fails, passes, "", "1 passed, 1 failed"},
		"a race was found":            {"0", append([]string{`{"Action":"output","Package":"a","Test":"TestY","Output":"WARNING: DATA RACE\n"}`}, fails...), passes, "", "1 passed, 1 failed"},
		"something panicked":          {"0", append([]string{`{"Action":"output","Package":"a","Test":"TestX/one","Output":"panic: nil map\n"}`}, fails...), passes, "", "1 passed, 1 failed"},
		"another test is skipped":     {"0", append([]string{`{"Action":"skip","Package":"a","Test":"TestZ"}`}, fails...), passes, "", "1 passed, 2 failed"},
		"another package fell silent": {"0", append([]string{`{"Action":"fail","Package":"b"}`}, fails...), passes, "", "1 passed, 2 failed"},
		"all is well":                 {"0", passes, fails, "", "1 passed, 0 failed"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "again"), []byte(strings.Join(c.again, "\n")+"\n"), 0o600))
			cmd := exec.CommandContext(t.Context(), ".ci/summary", "sh", "-c", `echo "$@" >> `+dir+`/asked; cat `+dir+`/again`, "sh")
			cmd.Env = append(os.Environ(), "SUMMARY_STOLEN="+c.stolen)
			cmd.Stdin = strings.NewReader(strings.Join(c.lines, "\n") + "\n")
			out, err := cmd.Output()
			text := strings.TrimSpace(string(out))
			asked, _ := os.ReadFile(filepath.Join(dir, "asked"))
			assert.Equal(t, c.asked, string(asked))
			assert.Equal(t, c.last, text[strings.LastIndexByte(text, '\n')+1:])
			assert.Equal(t, strings.HasSuffix(c.last, " 0 failed"), err == nil, "%v", err)
			if c.asked != "" {
				assert.Contains(t, text, "again, alone")
				assert.Contains(t, text, "too late", "the first failure is shown")
			}
		})
	}
}
