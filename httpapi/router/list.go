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

// Query returns the page that the query parameters select. Default limit: defaultPage.
func (p Paging) Query() record.PageQuery {
	if p.Limit == 0 {
		p.Limit = defaultPage
	}
	return record.PageQuery{Limit: p.Limit, Cursor: p.Cursor, CreatedAfter: p.CreatedAfter, CreatedBefore: p.CreatedBefore}
}

// CreatedBetween returns the range of creation times that the query parameters select.
func (p Paging) CreatedBetween() record.TimeRange { return p.Query().Created() }

// List is the response with one page of a list.
type List[T any] struct {
	Object     string  `json:"object" enum:"list"`
	Data       []T     `json:"data"`
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor" doc:"Cursor of the next page; null on the last page."`
}

// Page returns the response with one page of a list, or err. show converts each record to its API form.
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

// RespondDeleted returns the response to the successful deletion of a resource, or err.
func RespondDeleted(id, object string, err error) (*Response[Deleted], error) {
	return Respond(Deleted{ID: id, Object: object, Deleted: true}, err)
}

// OptionalID checks an id that filters a list, "" for no filter. It returns an error for an invalid id, because such a
// filter would match nothing. The error names the query parameter.
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
