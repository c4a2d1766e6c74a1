package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callboard/callboard/client"
)

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func (s *session) json(v any) error { return printJSON(s.out(), v) }

// line prints one JSON value on a line of its own, for answers without an end.
func (s *session) line(v any) error {
	e := json.NewEncoder(s.out())
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Clean takes what would steer a terminal out of a text of a stranger.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// when is a time as people read it, in their own zone.
func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

func maybe(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return when(*t)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// cells is a row of a table.
func cells(w io.Writer, row ...any) {
	for i, c := range row {
		if i > 0 {
			_, _ = io.WriteString(w, "\t")
		}
		_, _ = io.WriteString(w, Clean(fmt.Sprint(c)))
	}
	_, _ = io.WriteString(w, "\n")
}

// flushRows is how many rows of a table are lined up with each other.
const flushRows = 500

// rows prints up to most rows (0: all) as they come: a table, or a JSON list.
func rows[T any](s *session, all iter.Seq2[T, error], most int, head string, row func(*T) []any) error {
	var to printer = &table{w: tabwriter.NewWriter(s.out(), 0, 4, 2, ' ', 0), head: head}
	if s.asJSON {
		to = &jsonList{w: s.out()}
	}
	n := 0
	for one, err := range all {
		if err != nil {
			return errors.Join(to.end(false), err) // what was read is shown
		}
		if n++; most > 0 && n > most {
			if !s.asJSON {
				defer s.note("(the first %d; --limit 0 shows all)", most)
			}
			break
		}
		if err = to.add(one, func() []any { return row(&one) }); err != nil {
			return err
		}
	}
	return to.end(true)
}

// printer is where rows go.
type printer interface {
	add(one any, row func() []any) error
	end(whole bool) error
}

type table struct {
	w    *tabwriter.Writer
	head string
	n    int
}

func (t *table) add(_ any, row func() []any) error {
	t.begin()
	cells(t.w, row()...)
	if t.n++; t.n%flushRows > 0 {
		return nil
	}
	return t.w.Flush()
}

func (t *table) begin() {
	if t.n == 0 && t.head != "" {
		_, _ = fmt.Fprintln(t.w, strings.ReplaceAll(t.head, " ", "\t"))
		t.head = ""
	}
}

func (t *table) end(whole bool) error {
	if whole {
		t.begin()
	}
	return t.w.Flush()
}

type jsonList struct {
	w io.Writer
	n int
}

func (l *jsonList) add(one any, _ func() []any) error {
	text, err := json.MarshalIndent(one, "  ", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(l.w, "%s\n  %s", map[bool]string{true: ",", false: "["}[l.n > 0], text)
	l.n++
	return err
}

// end closes a whole list. One that was broken off stays open, so that nobody
// takes it for all.
func (l *jsonList) end(whole bool) error {
	switch {
	case !whole:
		return nil
	case l.n == 0:
		_, err := fmt.Fprintln(l.w, "[]")
		return err
	}
	_, err := fmt.Fprintln(l.w, "\n]")
	return err
}

// lister is a command that lists.
func lister[T any](use, short, example string, flags func(*pflag.FlagSet), all func(ctx context.Context, c *client.Client) iter.Seq2[T, error], head string, row func(*T) []any) *cobra.Command {
	most := 0
	cmd := command(use, short, example, cobra.NoArgs, func(s *session, _ []string) error {
		if most < 0 {
			return Misuse("--limit must be 0 or more")
		}
		return rows(s, all(s.ctx(), s.Client), most, head, row)
	})
	limitFlag(cmd, &most)
	if flags != nil {
		flags(cmd.Flags())
	}
	return cmd
}

func limitFlag(cmd *cobra.Command, most *int) {
	cmd.Flags().IntVar(most, "limit", 50, "how many are shown; 0: all")
}

// show prints one thing: JSON, or its fields line by line.
func (s *session) show(v any) error {
	if s.asJSON {
		return s.json(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return sheet(s.out(), d, 0)
}

// sheet writes the next value of d as lines, objects indented; what is empty
// is left out.
func sheet(w io.Writer, d *json.Decoder, depth int) error {
	open, err := d.Token()
	if err != nil || open != json.Delim('{') {
		return err
	}
	pad := strings.Repeat("  ", depth)
	for d.More() {
		name, failed := d.Token()
		if failed != nil {
			return failed
		}
		var raw json.RawMessage
		if err = d.Decode(&raw); err != nil {
			return err
		}
		if text, plain := plainly(raw); plain {
			if text != "" {
				_, _ = fmt.Fprintf(w, "%s%s: %s\n", pad, Clean(fmt.Sprint(name)), Clean(text))
			}
			continue
		}
		_, _ = fmt.Fprintf(w, "%s%s:\n", pad, Clean(fmt.Sprint(name)))
		if err = below(w, raw, depth+1); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

func below(w io.Writer, raw json.RawMessage, depth int) error {
	parts := []json.RawMessage{raw}
	list := raw[0] == '['
	if list {
		if err := json.Unmarshal(raw, &parts); err != nil {
			return err
		}
	}
	for i, p := range parts {
		if list && i > 0 {
			_, _ = fmt.Fprintf(w, "%s-\n", strings.Repeat("  ", depth))
		}
		if err := sheet(w, json.NewDecoder(bytes.NewReader(p)), depth); err != nil {
			return err
		}
	}
	return nil
}

// plainly is a value that fits on a line: no object and no list of objects.
func plainly(raw json.RawMessage) (string, bool) {
	switch raw[0] {
	case 'n':
		return "", true
	case '"':
		var text string
		_ = json.Unmarshal(raw, &text) // it is JSON
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			text = when(t)
		}
		return text, true
	case '{':
		return "", string(raw) == "{}"
	case '[':
		var parts []json.RawMessage
		_ = json.Unmarshal(raw, &parts)
		words := make([]string, 0, len(parts))
		for _, p := range parts {
			word, plain := plainly(p)
			if !plain {
				return "", false
			}
			words = append(words, word)
		}
		return strings.Join(words, ", "), true
	}
	return string(raw), true
}

// shower is a command that shows one thing by its id.
func shower[T any](use, short, example string, get func(ctx context.Context, c *client.Client, id string) (*T, error)) *cobra.Command {
	return command(use, short, example, cobra.ExactArgs(1), func(s *session, args []string) error {
		one, err := get(s.ctx(), s.Client, args[0])
		if err != nil {
			return err
		}
		return s.show(one)
	})
}

// doer is a command that does something to each of what is named, and tells it.
func doer[T any](use, short, example string, did func(*T) string, do func(ctx context.Context, c *client.Client, id string) (*T, error)) *cobra.Command {
	return command(use, short, example, cobra.MinimumNArgs(1), func(s *session, args []string) error {
		for _, id := range args {
			one, err := do(s.ctx(), s.Client, id)
			if err != nil {
				return err
			}
			if s.asJSON {
				err = s.line(one)
			} else {
				s.say("%s", id+" "+did(one))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func deleted(*client.Deleted) string { return "is deleted" }

// bodyMost bounds what is read of a file with a body.
const bodyMost = 16 << 20

// fromFile reads the JSON body of a request; fields that it does not have are
// told before anything is sent.
func fromFile[T any](s *session, path string) (*T, error) {
	var text []byte
	var err error
	if path == "-" {
		text, err = io.ReadAll(io.LimitReader(s.cmd.InOrStdin(), bodyMost))
	} else {
		text, err = os.ReadFile(path) //nolint:gosec // the user names it
	}
	if err != nil {
		return nil, err
	}
	out := new(T)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err = d.Decode(out); err != nil {
		return nil, Misuse("%s: %w", path, err)
	}
	return out, nil
}

// maker is a command that makes something of a file.
func maker[In, Out any](short, example string, do func(ctx context.Context, c *client.Client, in *In) (*Out, error)) *cobra.Command {
	path := ""
	cmd := command("create", short, example, cobra.NoArgs, func(s *session, _ []string) error {
		in, err := fromFile[In](s, path)
		if err != nil {
			return err
		}
		made, err := do(s.ctx(), s.Client, in)
		if err != nil {
			return err
		}
		return s.show(made)
	})
	fileFlag(cmd, &path)
	return cmd
}

// changer is a command that changes something by a file.
func changer[In, Out any](short, example string, do func(ctx context.Context, c *client.Client, id string, in *In) (*Out, error)) *cobra.Command {
	path := ""
	cmd := command("update ID", short, example, cobra.ExactArgs(1), func(s *session, args []string) error {
		in, err := fromFile[In](s, path)
		if err != nil {
			return err
		}
		changed, err := do(s.ctx(), s.Client, args[0], in)
		if err != nil {
			return err
		}
		return s.show(changed)
	})
	fileFlag(cmd, &path)
	return cmd
}

func fileFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVarP(path, "file", "f", "", "the JSON body as the API takes it; - is the standard input")
	_ = cmd.MarkFlagRequired("file")
}

// given is a pointer to what was said; nil: nothing was.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
