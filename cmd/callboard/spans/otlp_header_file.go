package spans

import (
	"bufio"
	"fmt"
	"net/http"
	"net/textproto"
	"os"
	"strings"
)

// ReadHeaderFile reads the file of otlp_headers_file: lines of the form "Name: value".
// An empty path returns no headers.
func ReadHeaderFile(path string) (http.Header, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path) //nolint:gosec // the operator chooses the path
	if err != nil {
		return nil, fmt.Errorf("otlp_headers_file: %w", err)
	}
	defer func() { _ = f.Close() }()
	header := make(http.Header)
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" || value == "" || strings.ContainsAny(name, " \t") {
			return nil, fmt.Errorf("otlp_headers_file: line %d of %s must be a header line, such as Authorization: Bearer …", n, path)
		}
		header.Add(textproto.CanonicalMIMEHeaderKey(name), value)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("otlp_headers_file: %w", err)
	}
	return header, nil
}
