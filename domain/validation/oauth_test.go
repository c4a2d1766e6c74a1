package validation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
)

func TestRedirectURIIsUnambiguous(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"https://app.example.com/cb", "https://app.example.com", "https://app.example.com:8443/a/b?x=1&y=%20", "http://127.0.0.1:4711/cb", "http://[::1]:9/", "http://localhost/x",
	} {
		var p domain.Problems
		validation.Redirect(&p, "redirect_uris[0]", good)
		assert.Empty(t, p, good)
	}
	for _, bad := range []string{
		"", "/cb", "app.example.com/cb", "//app.example.com/cb", "https:app.example.com", "https:///cb", "http://app.example.com/", "http://10.0.0.1/", "https://a.example.com/#f", "https://a.example.com/#",
		"https://u:p@a.example.com/", "https://*.example.com/", "https://a.example.com/ b", "https://a.example.com/\r\nSet-Cookie: x", "https://a.example.com;script-src/", "https://a,b.example.com/",
		"javascript:alert(1)", "data:text/html,x", "myapp://cb", "ftp://a.example.com/", "https://a.example.com\\@evil.example.com/", "https://ä.example.com/", "https://" + strings.Repeat("a", 500) + ".example.com/", "https://%61.example.com/", "http://127.0.0.1.example.com/", "http://localhost.example.com/",
	} {
		var p domain.Problems
		validation.Redirect(&p, "redirect_uris[0]", bad)
		assert.Len(t, p, 1, bad)
	}
}
