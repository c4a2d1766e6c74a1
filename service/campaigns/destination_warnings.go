package campaigns

import (
	"context"
	"fmt"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

// destinationCheckLimit bounds how long the start of a campaign looks at its contacts.
const destinationCheckLimit = time.Second

// destinationWarnings tell of pending contacts whose number the workspace may not
// call any more. An upload refuses such numbers, so contacts are looked at only where
// the workspace has changed since the campaign was created.
func (s *Service) destinationWarnings(ctx context.Context, c *domain.Campaign) []domain.Detail {
	w := s.workspaces.Workspace(c.WorkspaceID)
	if w == nil || !w.UpdatedAt.After(c.CreatedAt) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, destinationCheckLimit)
	defer cancel()
	n, first, atLeast, zones := 0, "", "", calendar.NewZones()
	for one, err := range s.list.All(ctx, c, contactlist.StatesShownAs(c.Status, domain.ContactPending.String())) {
		if err != nil { // the time is up, or the store fails: the start tells of that
			atLeast = "at least "
			break
		}
		number, err := zones.Number(one.Contact.Phone)
		if err == nil {
			err = number.Allowed(w.Calling, w.DefaultCountry, c.Environment)
		}
		if err == nil {
			continue
		}
		if n++; first == "" {
			first = one.Contact.Phone + ": " + record.Message(err)
		}
	}
	if n == 0 {
		return nil
	}
	return []domain.Detail{{
		Param: "contacts", Code: domain.CodeDestination,
		Message: fmt.Sprintf("%s%d of the contacts may not be called by the rules that the workspace has now and will be skipped; the first is %s", atLeast, n, first),
	}}
}
