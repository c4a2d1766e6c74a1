package router

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// HandleList returns the handler of a route that lists records of the service port. show converts a stored record to
// its API form.
func HandleList[P, In, Out any](port P, list func(P, context.Context, domain.Principal, record.PageQuery) (record.Page[In], error), show func(In) Out) func(context.Context, domain.Principal, *struct{ Paging }) (*Response[List[Out]], error) {
	return func(ctx context.Context, p domain.Principal, in *struct{ Paging }) (*Response[List[Out]], error) {
		l, err := list(port, ctx, p, in.Query())
		return Page(l, err, show)
	}
}

// HandleByID returns the handler of a route that has a resource id in its path and no body. do is the method of the
// service port. show converts the result to its API form.
func HandleByID[P, In, Out any](kind domain.Prefix, port P, do func(P, context.Context, domain.Principal, string) (In, error), show func(In) Out) func(context.Context, domain.Principal, *IDParam) (*Response[Out], error) {
	return func(ctx context.Context, p domain.Principal, in *IDParam) (*Response[Out], error) {
		id, err := PathID(kind, in.ID)
		if err != nil {
			return nil, err
		}
		v, err := do(port, ctx, p, id)
		if err != nil {
			return nil, err
		}
		return Respond(show(v), nil)
	}
}

// HandleDeleteByID returns the handler of a route that deletes the resource with the id in its path.
func HandleDeleteByID[P any](kind domain.Prefix, object string, port P, do func(P, context.Context, domain.Principal, string) error) func(context.Context, domain.Principal, *IDParam) (*Response[Deleted], error) {
	return HandleByID(kind, port, func(port P, ctx context.Context, p domain.Principal, id string) (Deleted, error) {
		return Deleted{ID: id, Object: object, Deleted: true}, do(port, ctx, p, id)
	}, Identity)
}

// patchRequest is the decoded request of a PATCH route: the id in the path and the merge patch.
type patchRequest[S any] struct {
	IDParam
	Body Patch[S]
}

// HandlePatchByID returns the handler of a PATCH route. It merges the patch into the stored settings. set validates the
// result and applies it to the stored record.
func HandlePatchByID[P, S, R any](
	b *Registry, kind domain.Prefix, port P, do func(P, context.Context, domain.Principal, string, func(R) error) (R, error), set func(*S, R) error,
) func(context.Context, domain.Principal, *patchRequest[S]) (*Response[R], error) {
	return func(ctx context.Context, p domain.Principal, in *patchRequest[S]) (*Response[R], error) {
		id, err := PathID(kind, in.ID)
		if err != nil {
			return nil, err
		}
		return Respond(do(port, ctx, p, id, PatchFunc(b, &in.Body, set)))
	}
}

// Identity returns its argument. Handlers use it as the show function of records that need no conversion.
func Identity[T any](v T) T { return v }

// RespondCreated answers with a created resource and records its id for the audit log.
func RespondCreated[T interface{ Base() *domain.Meta }](ctx context.Context, made T, err error) (*Response[T], error) {
	if err != nil {
		return nil, err
	}
	SetResourceID(ctx, made.Base().ID)
	return Respond(made, nil)
}

// RespondPublic answers with the public form of a resource, which omits its secrets.
func RespondPublic[T interface{ Public() T }](v T, err error) (*Response[T], error) {
	if err != nil {
		return nil, err
	}
	return Respond(v.Public(), nil)
}

// HandleByOperator returns the handler of a route without a body that only operators may use.
func HandleByOperator[T any](do func(context.Context, domain.Principal) (T, error)) func(context.Context, domain.Principal, *struct{}) (*Response[T], error) {
	return func(ctx context.Context, p domain.Principal, _ *struct{}) (*Response[T], error) {
		if err := RequireOperator(p); err != nil {
			return nil, err
		}
		return Respond(do(ctx, p))
	}
}
