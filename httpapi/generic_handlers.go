package httpapi

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
)

// handleList returns the handler of a list route. show converts a stored value to its API
// form.
func handleList[P, In, Out any](port P, list func(P, context.Context, domain.Principal, ask.Page) (ask.List[In], error), show func(In) Out) func(context.Context, domain.Principal, *struct{ Paging }) (*answer[List[Out]], error) {
	return func(ctx context.Context, p domain.Principal, in *struct{ Paging }) (*answer[List[Out]], error) {
		l, err := list(port, ctx, p, in.page())
		return page(l, err, show)
	}
}

// handleByID returns the handler of a route with the id of a resource and no body.
func handleByID[P, In, Out any](kind domain.Prefix, port P, do func(P, context.Context, domain.Principal, string) (In, error), show func(In) Out) func(context.Context, domain.Principal, *One) (*answer[Out], error) {
	return func(ctx context.Context, p domain.Principal, in *One) (*answer[Out], error) {
		id, err := named(kind, in.ID)
		if err != nil {
			return nil, err
		}
		v, err := do(port, ctx, p, id)
		if err != nil {
			return nil, err
		}
		return ok(show(v), nil)
	}
}

// handleDeleteByID returns the handler of a DELETE.
func handleDeleteByID[P any](kind domain.Prefix, object string, port P, do func(P, context.Context, domain.Principal, string) error) func(context.Context, domain.Principal, *One) (*answer[Deleted], error) {
	return handleByID(kind, port, func(port P, ctx context.Context, p domain.Principal, id string) (Deleted, error) {
		return Deleted{ID: id, Object: object, Deleted: true}, do(port, ctx, p, id)
	}, same)
}

// patchRequest is the request of a PATCH.
type patchRequest[S any] struct {
	One
	Body Patch[S]
}

// handlePatchByID returns the handler of a PATCH. set applies the body to the stored value.
func handlePatchByID[P, S, R any](
	b *Registry, kind domain.Prefix, port P, do func(P, context.Context, domain.Principal, string, func(R) error) (R, error), set func(*S, R) error,
) func(context.Context, domain.Principal, *patchRequest[S]) (*answer[R], error) {
	return func(ctx context.Context, p domain.Principal, in *patchRequest[S]) (*answer[R], error) {
		id, err := named(kind, in.ID)
		if err != nil {
			return nil, err
		}
		return ok(do(port, ctx, p, id, patchFunc(b, &in.Body, set)))
	}
}

func same[T any](v T) T { return v }

// touched answers with a noun that was made, and notes which.
func touched[T interface{ Base() *domain.Meta }](ctx context.Context, made T, err error) (*answer[T], error) {
	if err != nil {
		return nil, err
	}
	touch(ctx, made.Base().ID)
	return ok(made, nil)
}

// public answers with a noun without its secrets.
func public[T interface{ Public() T }](v T, err error) (*answer[T], error) {
	if err != nil {
		return nil, err
	}
	return ok(v.Public(), nil)
}
