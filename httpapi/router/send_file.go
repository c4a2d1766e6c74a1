package router

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// SendFile answers with a file, or with the byte range of it that the request asks for.
func (s *Router) SendFile(c *fiber.Ctx, rec record.Download, kind, disposition string) error {
	wanted := c.Get(fiber.HeaderRange)
	if c.Method() == fiber.MethodHead { // HEAD ignores Range (RFC 9110 §14.2)
		wanted = ""
	}
	part, err := parseRange(wanted, rec.Size)
	if err == nil && part.from > 0 {
		_, err = rec.Body.Seek(part.from, io.SeekStart)
	}
	if err != nil {
		_ = rec.Body.Close()
		if domain.CodeOf(err) != "" {
			c.Set(fiber.HeaderContentRange, fmt.Sprintf("bytes */%d", rec.Size))
		}
		return err
	}
	c.Set(fiber.HeaderContentType, kind)
	c.Set(fiber.HeaderAcceptRanges, "bytes")
	c.Set(fiber.HeaderContentDisposition, disposition)
	if !rec.Created.IsZero() {
		c.Set(fiber.HeaderLastModified, rec.Created.UTC().Format(http.TimeFormat))
	}
	if part.partial {
		c.Status(http.StatusPartialContent)
		c.Set(fiber.HeaderContentRange, fmt.Sprintf("bytes %d-%d/%d", part.from, part.from+part.size-1, rec.Size))
	}
	v := *RequestOf(c.UserContext())
	holds, stop := s.access.WatchCredential(s.Context(&v), &v)
	c.Context().SetBodyStream(&fileBody{
		Reader: io.LimitReader(rec.Body, part.size), body: rec.Body, conn: c.Context().Conn(), writeTimeout: s.writeTimeout, checkCredential: holds.Err, stop: stop,
	}, int(part.size))
	return nil
}

// fileBody reads a file for a response. Each read renews the write deadline of the connection. Reading fails once the
// credential is invalid.
type fileBody struct {
	io.Reader
	body            io.Closer
	conn            net.Conn
	writeTimeout    time.Duration
	checkCredential func() error // returns an error once the credential is invalid
	stop            func()
}

func (s *fileBody) Read(p []byte) (int, error) {
	if err := s.checkCredential(); err != nil {
		return 0, err
	}
	if err := s.conn.SetWriteDeadline(time.Now().Add(s.writeTimeout)); err != nil {
		return 0, err
	}
	return s.Reader.Read(p)
}

// Close stops the checks of the credential and closes the file.
func (s *fileBody) Close() error {
	s.stop()
	return s.body.Close()
}

// byteRange is the part of a file that a response contains.
type byteRange struct {
	from, size int64
	partial    bool
}

// parseRange parses a Range header (RFC 9110 §14.2). It returns the whole file for an invalid header or several ranges.
func parseRange(header string, size int64) (byteRange, error) {
	full := byteRange{size: size}
	spec, isBytes := strings.CutPrefix(header, "bytes=")
	first, last, isRange := strings.Cut(strings.TrimSpace(spec), "-")
	if !isBytes || !isRange || strings.Contains(spec, ",") {
		return full, nil
	}
	unsatisfiable := &domain.Error{Code: CodeRangeNotSatisfiable, Message: fmt.Sprintf("The file has %d bytes.", size)}
	if first == "" {
		n, err := strconv.ParseInt(last, 10, 64)
		switch {
		case errors.Is(err, strconv.ErrRange):
			n = size
		case err != nil || n < 0:
			return full, nil //nolint:nilerr // an invalid range is ignored (RFC 9110 §14.2)
		}
		if n == 0 || size == 0 {
			return byteRange{}, unsatisfiable
		}
		n = min(n, size)
		return byteRange{from: size - n, size: n, partial: true}, nil
	}
	from, err := strconv.ParseInt(first, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || from < 0 {
		return full, nil
	}
	to := size - 1
	if last != "" {
		n, err := strconv.ParseInt(last, 10, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || n < from {
			return full, nil
		}
		to = min(to, n)
	}
	if from >= size {
		return byteRange{}, unsatisfiable
	}
	return byteRange{from: from, size: to - from + 1, partial: true}, nil
}
