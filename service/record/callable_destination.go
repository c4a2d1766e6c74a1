package record

import (
	"errors"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

// Destination parses the request field "to" as a telephone number. It checks that the workspace may call this
// number and send messages to it. Errors: destination_not_allowed, validation_failed.
func Destination(zones *calendar.SharedZones, w *domain.Workspace, env domain.Environment, to string) (domain.Number, error) {
	n, err := zones.ParseNumber(to, w.DefaultCountry)
	switch {
	case errors.Is(err, domain.ErrPhoneForbidden):
		return n, &domain.Error{Code: domain.CodeDestinationNotAllowed, Param: "to", Message: "to is an emergency number or a short code; these are never called"}
	case err != nil:
		return n, domain.FieldError("to", domain.CodeValidation, "to must be a full telephone number, best in E.164, or the extension of a phone")
	}
	return n, n.CheckDestination(w.Calling, w.DefaultCountry, env)
}
