package bulk

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// addNumbers adds all numbers of a job to its list. A number is on a list once, however
// often it is added.
func (r *run) addNumbers(ctx context.Context) error {
	err := r.service.cfg.ImportDNC(ctx, r.principal, r.job.TargetID, func(yield func(domain.RawNumber, error) bool) {
		for index, o := range r.items(ctx) {
			if index < 0 || o.Number == nil {
				yield(domain.RawNumber{}, errUnreadable)
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
