package knowledge

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseHTMLKeepsTextAndHeadings(t *testing.T) {
	t.Parallel()
	title, text := parseHTML("<html><head><title> Our  hours </title><style>p{}</style></head><body><nav>Home</nav>" +
		"<h2>Monday</h2><p>9 to&nbsp;5 &amp; later</p><ul><li>one</li><li>two</li></ul><script>alert(1)</script></body></html>")
	assert.Equal(t, "Our hours", title)
	assert.Equal(t, "## Monday\n\n9 to 5 & later\n\n- one\n- two", text)
}

func TestKnowledgePageContentTypeComesFromHeaderAndURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ header, address, want string }{
		{"text/html; charset=utf-8", "https://a.example/", hypertext},
		{"text/plain", "https://a.example/read.md", markdown},
		{"text/plain", "https://a.example/read.txt", plainText},
		{"application/pdf", "https://a.example/", pdf},
		{"image/png", "https://a.example/", ""},
		{"", "https://a.example/", ""},
	} {
		assert.Equal(t, c.want, contentType(c.header, c.address), "%s %s", c.header, c.address)
	}
}
