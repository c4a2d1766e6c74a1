package router

import (
	"bufio"
	"context"
	"encoding/csv"
	"io"
	"iter"
	"log/slog"
	"net"
	"runtime/debug"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/exportrows"
)

// Media types of rows.
const (
	MIMECSV       = "text/csv"
	MIMEJSONLines = "application/x-ndjson"
)

// RetryAfterProcessing is the Retry-After, in seconds, of a file that is still being written.
const RetryAfterProcessing = "2"

// CSVFile is the media type of a CSV file with a header row (RFC 4180).
const CSVFile = MIMECSV + "; charset=utf-8; header=present"

// File is what a download is saved as.
type File struct{ Name, Kind string }

// Download answers with a file that is written while it is read: open begins the reading, which goes on after the route has
// returned, until the last row or until the client has gone.
func Download[T any](s *Router, c *fiber.Ctx, f File, open func(context.Context, domain.Principal) (T, error), write func(T, io.Writer) error) error {
	v := RequestOf(c.UserContext())
	asked := *v
	ctx, cancel := s.access.WatchCredential(s.Context(v), &asked)
	rows, err := open(ctx, v.Principal)
	if err != nil {
		cancel()
		return err
	}
	c.Set(fiber.HeaderContentType, f.Kind)
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+f.Name+`"`)
	s.Stream(ctx, c, cancel, func(w io.Writer) error { return write(rows, w) })
	return nil
}

// Stream writes the body of an answer while the client reads it. What fails
// cuts the connection: half a file must not look like a whole one.
func (s *Router) Stream(ctx context.Context, c *fiber.Ctx, end func(), write func(io.Writer) error) {
	if c.Method() == fiber.MethodHead {
		end()
		c.Response().Header.SetContentLength(-1) // nobody knows it before the end
		return
	}
	v := RequestOf(c.UserContext())
	conn := c.Context().Conn()
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer end()
		defer func() {
			if r := recover(); r != nil {
				s.Log.ErrorContext(ctx, "panic in a stream", slog.Any("panic", r), slog.String("stack", string(debug.Stack())))
				_ = conn.Close()
			}
		}()
		err := write(&timedWriter{w: w, conn: conn, patience: s.writeTimeout})
		if err == nil {
			err = w.Flush()
		}
		if err != nil {
			s.Log.WarnContext(ctx, "stream cut off", slog.String("request_id", v.RequestID), slog.Any("error", err))
			_ = conn.Close()
		}
	})
}

// timedWriter writes to a client as long as it goes on reading.
type timedWriter struct {
	w        *bufio.Writer
	conn     net.Conn
	patience time.Duration
}

// Write waits for the client for the write timeout.
func (p *timedWriter) Write(b []byte) (int, error) {
	if err := p.conn.SetWriteDeadline(time.Now().Add(p.patience)); err != nil {
		return 0, err
	}
	return p.w.Write(b)
}

// Flush sends what was written.
func (p *timedWriter) Flush() error { return p.w.Flush() }

// WriteCSV writes a header row and what each makes of every row; each may use
// the record that it is given.
func WriteCSV[T any](w io.Writer, header []string, rows iter.Seq2[T, error], each func(row *T, record []string, put func([]string) error) error) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if err := out.Write(header); err != nil {
		return err
	}
	var row T
	record := header[:0:0]
	put := func(r []string) error { record = r; return out.Write(r) }
	for next, err := range rows {
		if row = next; err == nil {
			err = each(&row, record[:0], put)
		}
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// WriteJSONLines writes what show makes of every row as JSON, one per line.
func WriteJSONLines[T any](w io.Writer, rows iter.Seq2[T, error], show func(*T) any) error {
	b := bufio.NewWriterSize(w, 32<<10)
	var row T
	for next, err := range rows {
		if row = next; err == nil {
			err = domain.WriteJSON(b, show(&row))
		}
		if err != nil {
			return err
		}
	}
	return b.Flush()
}

// DefuseFormula is a text that no spreadsheet takes for a formula.
func DefuseFormula(s string) string { return exportrows.EscapeFormula(s) }

// FormatTime is a time as files show it; "": there is none.
func FormatTime(t *time.Time) string { return exportrows.TimeCell(t) }
