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

// Conversations manages the SMS conversations that agents have with contacts.
type Conversations interface {
	Conversation(ctx context.Context, p domain.Principal, id string) (*domain.SMSConversation, error)
	ListConversations(ctx context.Context, p domain.Principal, q sms.ConversationQuery) (record.Page[*domain.SMSConversation], error)
	// CloseConversation ends an open conversation. It returns an ended conversation unchanged.
	CloseConversation(ctx context.Context, p domain.Principal, id string) (*domain.SMSConversation, error)
	// DeleteConversation deletes an ended conversation. It returns invalid_state while the conversation is open.
	DeleteConversation(ctx context.Context, p domain.Principal, id string) error
}

// registerConversations registers the operations of SMS conversations.
func registerConversations(r *router.Router, conversations Conversations) {
	s := &conversationHandlers{Router: r, conversations: conversations}
	const tag, path = "SMS", "/v1/sms-conversations"
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: path, ID: "listSMSConversations", Tag: tag, Summary: "List conversations by text message", Errors: []int{http.StatusUnprocessableEntity},
		Description: "An agent with sms enabled answers text messages to its numbers by its pathway. GET /v1/sms?conversation_id= lists the messages.",
	}, s.listConversations)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getSMSConversation", Tag: tag, Summary: "Get a conversation by text message"},
		router.HandleByID(domain.PrefixConversation, s.conversations, Conversations.Conversation, router.Identity))
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/close", ID: "closeSMSConversation", Tag: tag, Summary: "Close a conversation by text message",
		Description: "The next message of the contact starts a new conversation. Closing an ended conversation has no effect.",
	}, router.HandleByID(domain.PrefixConversation, s.conversations, Conversations.CloseConversation, router.Identity))
	router.Add(s.Router, router.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteSMSConversation", Tag: tag, Summary: "Delete a conversation by text message", Errors: []int{http.StatusConflict},
		Description: "409 invalid_state while the conversation is open. Its messages remain.",
	}, router.HandleDeleteByID(domain.PrefixConversation, "sms_conversation", s.conversations, Conversations.DeleteConversation))
}

func (s *conversationHandlers) listConversations(ctx context.Context, p domain.Principal, in *struct {
	router.Paging
	Status  string `query:"status" enum:"open,completed,timed_out,closed,failed" doc:"Filters by status."`
	Contact string `query:"contact" maxLength:"40" doc:"Filters by the contact's number."`
},
) (*router.Response[router.List[*domain.SMSConversation]], error) {
	w, err := s.Workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	q := sms.ConversationQuery{PageQuery: in.Query(), Status: domain.SMSConversationStatus(in.Status)}
	if q.Contact, err = router.OptionalPhone("contact", in.Contact, w.DefaultCountry); err != nil {
		return nil, err
	}
	l, err := s.conversations.ListConversations(ctx, p, q)
	return router.Page(l, err, router.Identity)
}
