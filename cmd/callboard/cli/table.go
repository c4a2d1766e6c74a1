package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"text/tabwriter"
)

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
