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

// Media types of files that hold one record per line.
const (
	MIMECSV       = "text/csv"
	MIMEJSONLines = "application/x-ndjson"
)

// RetryAfterProcessing is the Retry-After, in seconds, of the response while a file is still being written.
const RetryAfterProcessing = "2"

// CSVFile is the media type of a CSV file with a header row (RFC 4180).
const CSVFile = MIMECSV + "; charset=utf-8; header=present"

// File is the file name and the media type of a download.
type File struct{ Name, Kind string }

// Download answers with a file that is written while the client reads it. open starts to read the rows. write runs
// after the handler has returned, until the last row is written or the client closes the connection.
func Download[T any](s *Router, c *fiber.Ctx, f File, open func(context.Context, domain.Principal) (T, error), write func(T, io.Writer) error) error {
	v := RequestOf(c.UserContext())
	checked := *v
	ctx, cancel := s.access.WatchCredential(s.Context(v), &checked)
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

// Stream writes a response body while the client reads it. If write fails, the connection is closed, so that a partial
// file does not look complete.
func (s *Router) Stream(ctx context.Context, c *fiber.Ctx, end func(), write func(io.Writer) error) {
	if c.Method() == fiber.MethodHead {
		end()
		c.Response().Header.SetContentLength(-1) // the length is unknown until the last row is written
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
		err := write(&timedWriter{w: w, conn: conn, writeTimeout: s.writeTimeout})
		if err == nil {
			err = w.Flush()
		}
		if err != nil {
			s.Log.WarnContext(ctx, "stream cut off", slog.String("request_id", v.RequestID), slog.Any("error", err))
			_ = conn.Close()
		}
	})
}

// timedWriter writes to a client and sets a new write deadline before each write.
type timedWriter struct {
	w            *bufio.Writer
	conn         net.Conn
	writeTimeout time.Duration
}

// Write writes a part of the body. The client must accept it within the write timeout.
func (p *timedWriter) Write(b []byte) (int, error) {
	if err := p.conn.SetWriteDeadline(time.Now().Add(p.writeTimeout)); err != nil {
		return 0, err
	}
	return p.w.Write(b)
}

// Flush sends the buffered bytes.
func (p *timedWriter) Flush() error { return p.w.Flush() }

// WriteCSV writes a header row and then calls each for every row. For each line to write, each fills record and passes
// it to put.
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

// WriteJSONLines writes one JSON object per row. show converts a row to the value that is encoded.
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

// EscapeFormula changes a text so that spreadsheet programs do not interpret it as a formula.
func EscapeFormula(s string) string { return exportrows.EscapeFormula(s) }

// FormatTime formats a time for export files, "" for nil.
func FormatTime(t *time.Time) string { return exportrows.TimeCell(t) }
