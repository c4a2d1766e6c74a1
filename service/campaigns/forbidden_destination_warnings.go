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

// destinationCheckLimit is the maximum time that the start of a campaign spends on checking its contacts.
const destinationCheckLimit = time.Second

// destinationWarnings returns a warning if pending contacts have numbers that the workspace may not call. Uploads
// refuse such numbers. So the contacts are checked only if the workspace was changed after the campaign was
// created.
func (s *Service) destinationWarnings(ctx context.Context, c *domain.Campaign) []domain.Detail {
	w := s.workspaces.Workspace(c.WorkspaceID)
	if w == nil || !w.UpdatedAt.After(c.CreatedAt) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, destinationCheckLimit)
	defer cancel()
	n, first, atLeast, zones := 0, "", "", calendar.NewZones()
	for entry, err := range s.list.All(ctx, c, contactlist.StatesShownAs(c.Status, domain.ContactPending.String())) {
		if err != nil { // time limit or store error; a store error also fails the start itself
			atLeast = "at least "
			break
		}
		number, err := zones.NumberFromE164(entry.Contact.Phone)
		if err == nil {
			err = number.CheckDestination(w.Calling, w.DefaultCountry, c.Environment)
		}
		if err == nil {
			continue
		}
		if n++; first == "" {
			first = entry.Contact.Phone + ": " + record.Message(err)
		}
	}
	if n == 0 {
		return nil
	}
	return []domain.Detail{{
		Param: "contacts", Code: domain.CodeDestinationNotAllowed,
		Message: fmt.Sprintf("the current rules of the workspace do not allow calls to %s%d of the contacts, which will be skipped; the first is %s", atLeast, n, first),
	}}
}
