package messaging

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/sms"
)

// conversationHandlers serves the operations of SMS conversations.
type conversationHandlers struct {
	*router.Router

	conversations Conversations
}

// Conversations are conversations of agents by text message.
type Conversations interface {
	Texting(ctx context.Context, p domain.Principal, id string) (*domain.Texting, error)
	ListTextings(ctx context.Context, p domain.Principal, q sms.ConversationQuery) (record.Page[*domain.Texting], error)
	// CloseTexting has no effect on one that is over.
	CloseTexting(ctx context.Context, p domain.Principal, id string) (*domain.Texting, error)
	// DeleteTexting: invalid_state while it is open.
	DeleteTexting(ctx context.Context, p domain.Principal, id string) error
}

// registerConversations registers the operations of SMS conversations.
func registerConversations(r *router.Router, conversations Conversations) {
	s := &conversationHandlers{Router: r, conversations: conversations}
	const tag, path = "SMS", "/v1/sms-conversations"
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: path, ID: "listSMSConversations", Tag: tag, Summary: "List the conversations of agents by text message", Errors: []int{http.StatusUnprocessableEntity},
		Description: "Who writes to a number whose agent has sms enabled is answered along its pathway. What was written: GET /v1/sms?conversation_id=.",
	}, s.listTextings)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getSMSConversation", Tag: tag, Summary: "Get a conversation by text message"},
		router.HandleByID(domain.PrefixConversation, s.conversations, Conversations.Texting, router.Identity))
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/close", ID: "closeSMSConversation", Tag: tag, Summary: "End a conversation by text message",
		Description: "The next message of the contact begins another one. Without effect on one that is over.",
	}, router.HandleByID(domain.PrefixConversation, s.conversations, Conversations.CloseTexting, router.Identity))
	router.Add(s.Router, router.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteSMSConversation", Tag: tag, Summary: "Delete a conversation by text message", Errors: []int{http.StatusConflict},
		Description: "409 invalid_state while it is open. Its messages stay.",
	}, router.HandleDeleteByID(domain.PrefixConversation, "sms_conversation", s.conversations, Conversations.DeleteTexting))
}

func (s *conversationHandlers) listTextings(ctx context.Context, p domain.Principal, in *struct {
	router.Paging
	Status  string `query:"status" enum:"open,completed,timed_out,closed,failed" doc:"Only those in this state."`
	Contact string `query:"contact" maxLength:"40" doc:"Only those with this number."`
},
) (*router.Response[router.List[*domain.Texting]], error) {
	w, err := s.Workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	q := sms.ConversationQuery{PageQuery: in.Query(), Status: domain.TextingStatus(in.Status)}
	if q.Contact, err = router.OptionalPhone("contact", in.Contact, w.DefaultCountry); err != nil {
		return nil, err
	}
	l, err := s.conversations.ListTextings(ctx, p, q)
	return router.Page(l, err, router.Identity)
}
