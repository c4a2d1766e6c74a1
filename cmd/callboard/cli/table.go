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

// WriteRow writes the cells of one table row, separated by tabs.
func WriteRow(w io.Writer, cells ...any) {
	for i, c := range cells {
		if i > 0 {
			_, _ = io.WriteString(w, "\t")
		}
		_, _ = io.WriteString(w, Clean(fmt.Sprint(c)))
	}
	_, _ = io.WriteString(w, "\n")
}

// flushRows is the number of rows after which the table is printed and the column widths are computed again.
const flushRows = 500

// PrintRows prints at most limit rows as they arrive. The limit 0 means all rows. It prints a table with the column
// names in head, or with --json a JSON list.
func PrintRows[T any](s *Session, all iter.Seq2[T, error], limit int, head string, row func(*T) []any) error {
	var to rowPrinter = &table{w: tabwriter.NewWriter(s.Out(), 0, 4, 2, ' ', 0), head: head}
	if s.AsJSON {
		to = &jsonList{w: s.Out()}
	}
	n := 0
	for one, err := range all {
		if err != nil {
			return errors.Join(to.end(false), err) // the rows before the error stay visible
		}
		if n++; limit > 0 && n > limit {
			if !s.AsJSON {
				defer s.PrintNotef("(the first %d; --limit 0 shows all)", limit)
			}
			break
		}
		if err = to.add(one, func() []any { return row(&one) }); err != nil {
			return err
		}
	}
	return to.end(true)
}

// rowPrinter prints rows. The argument of end is false if the list is incomplete because of an error.
type rowPrinter interface {
	add(one any, row func() []any) error
	end(whole bool) error
}

// table prints rows as aligned columns.
type table struct {
	w    *tabwriter.Writer
	head string
	n    int
}

func (t *table) add(_ any, row func() []any) error {
	t.writeHead()
	WriteRow(t.w, row()...)
	if t.n++; t.n%flushRows > 0 {
		return nil
	}
	return t.w.Flush()
}

func (t *table) writeHead() {
	if t.n == 0 && t.head != "" {
		_, _ = fmt.Fprintln(t.w, strings.ReplaceAll(t.head, " ", "\t"))
		t.head = ""
	}
}

func (t *table) end(whole bool) error {
	if whole {
		t.writeHead()
	}
	return t.w.Flush()
}

// jsonList prints rows as the elements of a JSON list.
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

// end closes a complete list. An incomplete list stays without its closing bracket, so that it does not parse as JSON.
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
