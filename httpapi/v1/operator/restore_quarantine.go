package operator

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/restorequarantine"
)

// Quarantine controls the quarantine of a store that was restored from a backup.
type Quarantine interface {
	// Quarantine returns whether the store is in quarantine, and which actions may have been executed since the backup.
	Quarantine(ctx context.Context, p domain.Principal) (*restorequarantine.Quarantine, error)
	// EndQuarantine ends the quarantine of the store and restarts the service. Without a quarantine it changes nothing.
	EndQuarantine(ctx context.Context, p domain.Principal) (*restorequarantine.Quarantine, error)
}

// registerQuarantine registers the operations of the quarantine of a restored store.
func registerQuarantine(r *router.Router, store Quarantine) {
	const tag = "Operator"
	router.Add(r, router.Operation{
		Method: http.MethodGet, Path: operatorPath + "/quarantine", ID: "getQuarantine", Tag: tag, Summary: "List what may have been sent since the backup of the restored store",
		Description: "Operators only. A store that callboard restore has created is in quarantine. Reads and writes work, but the service sends nothing out: no call, BYE, CANCEL, REGISTER, webhook, message, reminder, mail or bulk job. " +
			"The listed items may have been sent between the backup and the restore, and the service does not repeat them. Without a quarantine active is false and the list is empty.",
	}, router.HandleByOperator(func(ctx context.Context, p domain.Principal) (*restorequarantine.Quarantine, error) {
		return store.Quarantine(ctx, p)
	}))
	router.Add(r, router.Operation{
		Method: http.MethodPost, Path: operatorPath + "/release", ID: "releaseQuarantine", Tag: tag, Summary: "Release a restored store from quarantine",
		Description: "Operators only. Make sure first that the original service has stopped. Open bulk jobs of calls and messages from before the backup are cancelled. Queued messages and due reminders are marked failed with the reason restored. " +
			"Campaigns stay paused until you resume them. Pending webhook deliveries are made; receivers recognize repeated events by their id. The service then restarts, which takes about a second. The response lists the affected items. Without a quarantine nothing happens.",
	}, router.HandleByOperator(func(ctx context.Context, p domain.Principal) (*restorequarantine.Quarantine, error) {
		return store.EndQuarantine(ctx, p)
	}))
}
