package bulk

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// addNumbers adds all numbers of a job to its do-not-call list. A repeated run adds no number twice.
func (r *run) addNumbers(ctx context.Context) error {
	err := r.service.cfg.ImportDNC(ctx, r.principal, r.job.TargetID, func(yield func(domain.RawNumber, error) bool) {
		for index, o := range r.items(ctx) {
			if index < 0 || o.Number == nil {
				yield(domain.RawNumber{}, errUnreadableItems)
				return
			}
			if !yield(*o.Number, nil) {
				return
			}
		}
	})
	if err == nil || record.IsRetryable(err) || domain.CodeOf(err) == domain.CodeInvalidState {
		return err
	}
	return r.failAll(ctx, err)
}
