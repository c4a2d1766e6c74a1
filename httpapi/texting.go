package httpapi

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
)

// Textings are conversations of agents by text message.
type Textings interface {
	Texting(ctx context.Context, p domain.Principal, id string) (*domain.Texting, error)
	ListTextings(ctx context.Context, p domain.Principal, q ask.TextingQuery) (ask.List[*domain.Texting], error)
	// CloseTexting has no effect on one that is over.
	CloseTexting(ctx context.Context, p domain.Principal, id string) (*domain.Texting, error)
	// DeleteTexting: invalid_state while it is open.
	DeleteTexting(ctx context.Context, p domain.Principal, id string) error
}

func (s *Server) textingRoutes() {
	const tag, path = "SMS", "/v1/sms-conversations"
	add(s.Router, operation{
		method: http.MethodGet, path: path, id: "listSMSConversations", tag: tag, summary: "List the conversations of agents by text message", errors: []int{http.StatusUnprocessableEntity},
		about: "Who writes to a number whose agent has sms enabled is answered along its pathway. What was written: GET /v1/sms?conversation_id=.",
	}, s.listTextings)
	add(s.Router, operation{method: http.MethodGet, path: path + "/{id}", id: "getSMSConversation", tag: tag, summary: "Get a conversation by text message"},
		handleByID(domain.PrefixTexting, s.ports.Textings, Textings.Texting, same))
	add(s.Router, operation{
		method: http.MethodPost, path: path + "/{id}/close", id: "closeSMSConversation", tag: tag, summary: "End a conversation by text message",
		about: "The next message of the contact begins another one. Without effect on one that is over.",
	}, handleByID(domain.PrefixTexting, s.ports.Textings, Textings.CloseTexting, same))
	add(s.Router, operation{
		method: http.MethodDelete, path: path + "/{id}", id: "deleteSMSConversation", tag: tag, summary: "Delete a conversation by text message", errors: []int{http.StatusConflict},
		about: "409 invalid_state while it is open. Its messages stay.",
	}, handleDeleteByID(domain.PrefixTexting, "sms_conversation", s.ports.Textings, Textings.DeleteTexting))
}

func (s *Server) listTextings(ctx context.Context, p domain.Principal, in *struct {
	Paging
	Status  string `query:"status" enum:"open,completed,timed_out,closed,failed" doc:"Only those in this state."`
	Contact string `query:"contact" maxLength:"40" doc:"Only those with this number."`
},
) (*answer[List[*domain.Texting]], error) {
	w, err := s.Workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	q := ask.TextingQuery{Page: in.page(), Status: domain.TextingStatus(in.Status)}
	if q.Contact, err = optionalPhone("contact", in.Contact, w.DefaultCountry); err != nil {
		return nil, err
	}
	l, err := s.ports.Textings.ListTextings(ctx, p, q)
	return page(l, err, same)
}
