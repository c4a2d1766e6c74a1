package httpapi_test

import (
	"context"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/sms"
)

func (f *fakeServices) Conversation(_ context.Context, _ domain.Principal, id string) (*domain.SMSConversation, error) {
	return f.textings.get(id)
}

func (f *fakeServices) ListConversations(_ context.Context, _ domain.Principal, q sms.ConversationQuery) (record.Page[*domain.SMSConversation], error) {
	f.recordArgument(q)
	return f.textings.list(q.PageQuery), nil
}

func (f *fakeServices) CloseConversation(_ context.Context, _ domain.Principal, id string) (*domain.SMSConversation, error) {
	t, err := f.textings.get(id)
	if err == nil {
		t.End(domain.SMSConversationClosed, "api", time.Now())
	}
	return t, err
}

func (f *fakeServices) DeleteConversation(_ context.Context, _ domain.Principal, id string) error {
	return f.textings.remove(id)
}

// addConversation adds a conversation and returns its id.
func (f *fakeServices) addConversation() string {
	now := time.Now()
	return f.textings.add(&domain.SMSConversation{
		AgentID: "agent_" + ulidOf(1), Number: "+12025550100", Contact: "+12025550123", Status: domain.SMSConversationOpen, Variables: map[string]string{}, LastAt: now, ExpiresAt: now.Add(time.Hour),
	}).ID
}
