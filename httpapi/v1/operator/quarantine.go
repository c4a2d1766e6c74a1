package operator

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/restorequarantine"
)

// Quarantine holds a store back that was restored from a backup.
type Quarantine interface {
	// Quarantine says whether the store is in quarantine, and lists what may have gone out since its backup.
	Quarantine(ctx context.Context, p domain.Principal) (*restorequarantine.Quarantine, error)
	// EndQuarantine releases the store and has the service start anew. Without a quarantine it changes nothing.
	EndQuarantine(ctx context.Context, p domain.Principal) (*restorequarantine.Quarantine, error)
}

// registerQuarantine registers the operations of the quarantine of a restored store.
func registerQuarantine(r *router.Router, store Quarantine) {
	const tag = "Operator"
	router.Add(r, router.Operation{
		Method: http.MethodGet, Path: operatorPath + "/quarantine", ID: "getQuarantine", Tag: tag, Summary: "List what may have gone out since the backup that the store was restored from",
		Description: "Operators only. A store that callboard restore has made is in quarantine: reads and writes work, and nothing leaves the service: no call, BYE, CANCEL, REGISTER, webhook, message, reminder, mail or bulk job. " +
			"What is listed may have gone out between the backup and the restore, and the service does not do it again. Without a quarantine active is false and the list is empty.",
	}, router.HandleByOperator(func(ctx context.Context, p domain.Principal) (*restorequarantine.Quarantine, error) {
		return store.Quarantine(ctx, p)
	}))
	router.Add(r, router.Operation{
		Method: http.MethodPost, Path: operatorPath + "/release", ID: "releaseQuarantine", Tag: tag, Summary: "Release a restored store: calls, webhooks and messages go out again",
		Description: "Operators only. Make sure first that the service that was backed up does not run any more. Jobs of calls and messages from before the backup that were not over are cancelled, messages that were queued and reminders that were due are marked failed with the reason restored; " +
			"campaigns stay paused until each is resumed. Webhook deliveries that were open are made: their receivers know an event that comes twice by its id. The service then starts anew, which takes about a second. The answer lists what was held back. Without a quarantine nothing happens.",
	}, router.HandleByOperator(func(ctx context.Context, p domain.Principal) (*restorequarantine.Quarantine, error) {
		return store.EndQuarantine(ctx, p)
	}))
}
