package bulk

import (
	"context"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// queueMessages queues the SMS messages of a job one by one.
func (r *run) queueMessages(ctx context.Context) error {
	for index, o := range r.items(ctx) {
		if index < 0 || o.Message == nil {
			return errUnreadableItems
		}
		var committed func()
		id := mailbox.NewID(domain.PrefixMessage)
		_, err := r.service.cfg.SMS.QueueMessage(ctx, r.principal, *o.Message, id, func(c *commit.Change) {
			item := r.item(index, nil)
			item.ResultID = id
			committed = r.addResult(c, item)
		})
		switch {
		case err == nil:
			committed()
		case committed != nil || record.IsRetryable(err):
			return err // after a failed commit the next run reads the stored rows
		default:
			if err = r.fail(ctx, index, err); err != nil {
				return err
			}
		}
	}
	return nil
}
