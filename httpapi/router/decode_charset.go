package router

import (
	"io"
	"mime"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/callboard/callboard/domain"
)

// CharsetOf returns the charset parameter of a content type, "" if there is none.
func CharsetOf(contentType string) string {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return params["charset"]
}

// DecodeCharset converts a text from the named charset to UTF-8. It leaves UTF-8 and UTF-16 unchanged, because package
// intake detects these by their byte order marks.
func DecodeCharset(r io.Reader, name string) (io.Reader, error) {
	low := strings.ToLower(strings.TrimSpace(name))
	if low == "" || strings.HasPrefix(low, "utf") || low == "us-ascii" {
		return r, nil
	}
	text, err := charset.NewReaderLabel(low, r)
	if err != nil {
		return nil, domain.Errorf(domain.CodeUnsupportedMedia, "The charset %.40q is unknown: send UTF-8.", name)
	}
	return text, nil
}
