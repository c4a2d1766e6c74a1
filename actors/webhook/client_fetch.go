package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/callboard/callboard/engines/content"
)

// Page is a web page that was fetched.
type Page struct {
	ContentType string // as the server reports it
	Body        []byte
}

// FetchPage reads a page of at most most bytes, with the same address checks as Send. It accepts only https and
// follows no redirect. The error text may be shown to users.
func (c *Client) FetchPage(ctx context.Context, url string, most int64) (Page, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil || req.URL.Scheme != "https" {
		return Page{}, errors.New("the URL is not valid")
	}
	req.Header.Set("Accept", "text/html, text/markdown, text/plain, application/pdf")
	req.Header.Set("Accept-Encoding", content.Codings)
	req.Header.Set("User-Agent", "callboard")
	resp, err := c.http.Do(req)
	if err != nil {
		return Page{}, errors.New(c.describeError(err))
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return Page{}, fmt.Errorf("the page has moved (%d); name the address that it has now", resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		return Page{}, fmt.Errorf("the page answered %d", resp.StatusCode)
	}
	body, err := content.ReadBody(resp.Header, resp.Body, most)
	_, shown := errors.AsType[content.Error](err)
	switch {
	case errors.Is(err, content.ErrTooLarge):
		return Page{}, fmt.Errorf("the page has more than %d bytes", most)
	case shown:
		return Page{}, fmt.Errorf("the page cannot be read: %w", err)
	case err != nil:
		return Page{}, errors.New(c.describeError(err))
	}
	return Page{ContentType: resp.Header.Get("Content-Type"), Body: body}, nil
}
