package router

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

const defaultPage = 20

// Paging holds the query parameters of every list route.
type Paging struct {
	Limit         int       `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Rows per page."`
	Cursor        string    `query:"cursor" maxLength:"512" doc:"next_cursor of the previous page."`
	CreatedAfter  time.Time `query:"created_after" doc:"Only resources created after this time."`
	CreatedBefore time.Time `query:"created_before" doc:"Only resources created before this time."`
}

// Query returns the requested page.
func (p Paging) Query() record.PageQuery {
	if p.Limit == 0 {
		p.Limit = defaultPage
	}
	return record.PageQuery{Limit: p.Limit, Cursor: p.Cursor, CreatedAfter: p.CreatedAfter, CreatedBefore: p.CreatedBefore}
}

// CreatedBetween returns the range of creation times that the request asks for.
func (p Paging) CreatedBetween() record.TimeRange { return p.Query().Created() }

// List is one page of a list in its API form.
type List[T any] struct {
	Object     string  `json:"object" enum:"list"`
	Data       []T     `json:"data"`
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor" doc:"Cursor of the next page; null on the last page."`
}

// Page answers with one page. show converts each record to its API form.
func Page[In, Out any](l record.Page[In], err error, show func(In) Out) (*Response[List[Out]], error) {
	if err != nil {
		return nil, err
	}
	out := List[Out]{Object: "list", Data: make([]Out, len(l.Data)), HasMore: l.Next != ""}
	for i, row := range l.Data {
		out.Data[i] = show(row)
	}
	if l.Next != "" {
		out.NextCursor = &l.Next
	}
	return &Response[List[Out]]{Body: out}, nil
}

// Deleted is the response to a DELETE.
type Deleted struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}

// RespondDeleted answers a DELETE.
func RespondDeleted(id, object string, err error) (*Response[Deleted], error) {
	return Respond(Deleted{ID: id, Object: object, Deleted: true}, err)
}

// OptionalID checks an id that filters a list. An invalid id is an error that names the parameter, because such a
// filter would match nothing.
func OptionalID(param string, kind domain.Prefix, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	good, err := domain.ParseID(kind, id)
	if err != nil {
		var p domain.Problems
		p.Add(param, domain.CodeValidation, "is not the id of a %s", kind)
		return "", p.Err()
	}
	return good, nil
}
