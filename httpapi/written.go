package httpapi

import (
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"
)

// answering is a value that writes itself as an answer: as JSON in which no
// list and no map is null.
type answering interface {
	AppendAnswer(b []byte) ([]byte, error)
}

// written is a value as it is answered: one that writes itself, or one without
// a nil list.
func written(v any) any {
	switch v := v.(type) {
	case answering:
		return v
	case interface{ written() answering }:
		if own := v.written(); own != nil {
			return own
		}
	}
	return filled(reflect.ValueOf(v)).Interface()
}

// writeJSON writes what written has made.
func writeJSON(w io.Writer, v any) error {
	own, ok := v.(answering)
	if !ok {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return e.Encode(v)
	}
	text, err := own.AppendAnswer(nil)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// tellBody answers with a value as JSON.
func tellBody(c *fiber.Ctx, v any) error {
	res := c.Response()
	res.Header.SetContentType(fiber.MIMEApplicationJSON)
	v = written(v)
	own, ok := v.(answering)
	if !ok {
		return writeJSON(res.BodyWriter(), v)
	}
	text, err := own.AppendAnswer(res.SwapBody(nil)[:0]) // where the bodies of answers were written before
	if err != nil {
		return err
	}
	res.SwapBody(append(text, '\n'))
	return nil
}

// rowSize is about what a row of a list comes to that writes itself.
const rowSize = 1 << 10

// writtenList is a page whose rows write themselves.
type writtenList struct {
	rows []answering
	more bool
	next *string
}

// written is nil where the rows do not write themselves.
func (l List[T]) written() answering {
	out := &writtenList{more: l.HasMore, next: l.NextCursor}
	for i := range l.Data {
		row, ok := any(l.Data[i]).(answering)
		if !ok {
			return nil
		}
		out.rows = append(out.rows, row)
	}
	return out
}

// AppendAnswer writes the page.
func (l *writtenList) AppendAnswer(b []byte) (text []byte, err error) {
	b = slices.Grow(b, (len(l.rows)+1)*rowSize)
	b = append(b, `{"object":"list","data":[`...)
	for i, row := range l.rows {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = row.AppendAnswer(b); err != nil {
			return nil, err
		}
	}
	b = append(b, `],"has_more":`...)
	b = append(strconv.AppendBool(b, l.more), `,"next_cursor":`...)
	cursor, err := json.Marshal(l.next)
	return append(append(b, cursor...), '}'), err
}
