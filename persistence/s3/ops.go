package s3

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// PartLeast is the least size of a part that is not the last one, and PartsMost
// how many of them an object has.
const (
	PartLeast = 5 << 20
	PartsMost = 10_000
	maxPage   = 8 << 20 // of a list, in XML
)

// Put keeps an object. When it returns the store has it whole.
func (c *Client) Put(ctx context.Context, key string, body []byte) error {
	return c.do(ctx, &request{method: http.MethodPut, key: key, body: body, large: true})
}

// Piece is what a ranged read brought.
type Piece struct {
	Size int64  // of the whole object
	ETag string // which object it was
	Got  int    // bytes that were read
}

// Get reads an object from an offset on, as much as there is room for. With an
// etag it is that object or none; see Replaced.
func (c *Client) Get(ctx context.Context, key string, from int64, into []byte, etag string) (p Piece, err error) {
	q := &request{method: http.MethodGet, key: key, header: http.Header{
		"Range": {fmt.Sprintf("bytes=%d-%d", from, from+int64(len(into))-1)},
	}}
	if etag != "" {
		q.header.Set("If-Match", etag)
	}
	q.read = func(r *http.Response) error {
		p = Piece{ETag: r.Header.Get("ETag")}
		switch r.StatusCode {
		case http.StatusPartialContent:
			at, size, ok := contentRange(r.Header.Get("Content-Range"))
			if !ok || at != from {
				return &setupError{errors.New("s3: the store answers another range than was asked for")}
			}
			p.Size = size
		case http.StatusOK: // it knows no ranges, or the range is all
			if from != 0 || r.ContentLength < 0 {
				return &setupError{errors.New("s3: the store does not answer ranges")}
			}
			p.Size = r.ContentLength
		default:
			return &setupError{fmt.Errorf("s3: the store answers a read with %d", r.StatusCode)}
		}
		want := min(int64(len(into)), p.Size-from)
		n, cut := io.ReadFull(r.Body, into[:max(want, 0)])
		p.Got = n
		return cut
	}
	err = c.do(ctx, q)
	return p, err
}

// contentRange reads "bytes 0-9/100".
func contentRange(text string) (from, size int64, ok bool) {
	span, total, _ := strings.Cut(strings.TrimPrefix(text, "bytes "), "/")
	first, _, _ := strings.Cut(span, "-")
	from, err := strconv.ParseInt(first, 10, 64)
	size, wrong := strconv.ParseInt(total, 10, 64)
	return from, size, err == nil && wrong == nil && from >= 0 && size > from
}

// Delete removes an object; one that is not there is gone.
func (c *Client) Delete(ctx context.Context, key string) error {
	err := c.do(ctx, &request{method: http.MethodDelete, key: key})
	if Missing(err) {
		return nil
	}
	return err
}

// Page is a part of a list.
type Page struct {
	Keys []string
	Next string // what the next page is asked for with; empty: there is none
}

// List names the objects whose keys begin with a prefix, 1,000 at most.
func (c *Client) List(ctx context.Context, prefix, next string) (Page, error) {
	q := url.Values{"list-type": {"2"}, "prefix": {prefix}, "max-keys": {"1000"}}
	if next != "" {
		q.Set("continuation-token", next)
	}
	var page Page
	err := c.do(ctx, &request{method: http.MethodGet, query: q, read: func(r *http.Response) error {
		var list struct {
			XMLName   xml.Name `xml:"ListBucketResult"`
			Truncated bool     `xml:"IsTruncated"`
			Next      string   `xml:"NextContinuationToken"`
			Contents  []struct {
				Key string `xml:"Key"`
			} `xml:"Contents"`
		}
		if err := decode(r, &list); err != nil {
			return err
		}
		page = Page{}
		for _, o := range list.Contents {
			page.Keys = append(page.Keys, o.Key)
		}
		if page.Next = list.Next; list.Truncated && page.Next == "" {
			return errors.New("s3: the store says that a list goes on, and not where")
		}
		if !list.Truncated {
			page.Next = ""
		}
		return nil
	}})
	return page, err
}

func decode(r *http.Response, into any) error {
	if err := xml.NewDecoder(io.LimitReader(r.Body, maxPage)).Decode(into); err != nil {
		return fmt.Errorf("s3: an answer of the store cannot be read: %w", err)
	}
	return nil
}

// Begin begins an object of several parts and returns the id of its upload.
func (c *Client) Begin(ctx context.Context, key string) (id string, err error) {
	var begun struct {
		XMLName xml.Name `xml:"InitiateMultipartUploadResult"`
		ID      string   `xml:"UploadId"`
	}
	err = c.do(ctx, &request{method: http.MethodPost, key: key, query: url.Values{"uploads": {""}}, read: func(r *http.Response) error {
		return decode(r, &begun)
	}})
	if err == nil && begun.ID == "" {
		err = errors.New("s3: the store begins an upload without an id")
	}
	return begun.ID, err
}

// PutPart keeps one part, numbered from 1, and returns what Complete wants to
// know of it.
func (c *Client) PutPart(ctx context.Context, key, id string, number int, body []byte) (etag string, err error) {
	q := url.Values{"partNumber": {strconv.Itoa(number)}, "uploadId": {id}}
	err = c.do(ctx, &request{method: http.MethodPut, key: key, query: q, body: body, large: true, read: func(r *http.Response) error {
		etag = r.Header.Get("ETag")
		return nil
	}})
	return etag, err
}

// Complete makes one object of the parts. On an error but a plain refusal it
// may be there nevertheless.
func (c *Client) Complete(ctx context.Context, key, id string, etags []string) error {
	type part struct {
		Number int    `xml:"PartNumber"`
		ETag   string `xml:"ETag"`
	}
	all := struct {
		XMLName xml.Name `xml:"CompleteMultipartUpload"`
		Parts   []part   `xml:"Part"`
	}{}
	for i, e := range etags {
		all.Parts = append(all.Parts, part{i + 1, e})
	}
	body, err := xml.Marshal(all)
	if err != nil {
		return err
	}
	q := url.Values{"uploadId": {id}}
	return c.do(ctx, &request{method: http.MethodPost, key: key, query: q, body: body, large: true, read: func(r *http.Response) error {
		var done struct {
			XMLName xml.Name
			Code    string `xml:"Code"`
			Message string `xml:"Message"`
		}
		if err := decode(r, &done); err != nil {
			return err
		}
		if done.XMLName.Local == "Error" { // it is said after 200, because it took so long
			return &Error{Status: http.StatusInternalServerError, Code: clean(done.Code, ""), Message: clean(done.Message, "")}
		}
		if done.XMLName.Local != "CompleteMultipartUploadResult" {
			return fmt.Errorf("s3: the store ends an upload with <%s>", clean(done.XMLName.Local, ""))
		}
		return nil
	}})
}

// Abort removes the parts of an upload that will not be an object.
func (c *Client) Abort(ctx context.Context, key, id string) error {
	err := c.do(ctx, &request{method: http.MethodDelete, key: key, query: url.Values{"uploadId": {id}}})
	if Missing(err) {
		return nil
	}
	return err
}

// Upload is one that was begun.
type Upload struct {
	Key   string    `xml:"Key"`
	ID    string    `xml:"UploadId"`
	Begun time.Time `xml:"Initiated"`
}

// Uploads lists what was begun below a prefix and has not ended, 1,000 at most.
func (c *Client) Uploads(ctx context.Context, prefix string) (all []Upload, err error) {
	q := url.Values{"uploads": {""}, "prefix": {prefix}, "max-uploads": {"1000"}}
	err = c.do(ctx, &request{method: http.MethodGet, query: q, read: func(r *http.Response) error {
		var list struct {
			XMLName xml.Name `xml:"ListMultipartUploadsResult"`
			Uploads []Upload `xml:"Upload"`
		}
		wrong := decode(r, &list)
		all = list.Uploads
		return wrong
	}})
	return all, err
}

// Versioned says whether the bucket keeps what is deleted; false also where
// the store does not say.
func (c *Client) Versioned(ctx context.Context) bool {
	kept := false
	err := c.do(ctx, &request{method: http.MethodGet, query: url.Values{"versioning": {""}}, read: func(r *http.Response) error {
		var v struct {
			XMLName xml.Name `xml:"VersioningConfiguration"`
			Status  string   `xml:"Status"`
		}
		err := decode(r, &v)
		kept = v.Status == "Enabled"
		return err
	}})
	return err == nil && kept
}
