package httpapi_test

import (
	"context"
	"iter"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/campaigns"
	"github.com/callboard/callboard/service/contacts"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

func (f *fakeServices) CreateCampaign(_ context.Context, p domain.Principal, c *domain.Campaign, secret string, rows iter.Seq2[domain.RawContact, error]) (campaigns.CreatedCampaign, error) {
	sum, err := f.readRows(rows)
	c.Environment = p.Environment
	return campaigns.CreatedCampaign{Campaign: f.campaigns.add(c), Upload: sum, WebhookSecret: secret}, err
}

func (f *fakeServices) UpdateCampaign(_ context.Context, _ domain.Principal, id string, change func(*domain.Campaign) error) (*domain.Campaign, string, error) {
	c, err := updateRecord(&f.campaigns, id, change)
	return c, "", err
}

func (f *fakeServices) DeleteCampaign(_ context.Context, _ domain.Principal, id string) error {
	return f.campaigns.remove(id)
}

func (f *fakeServices) CopyCampaign(_ context.Context, _ domain.Principal, id string, states []string, change func(*domain.Campaign) error) (campaigns.CreatedCampaign, error) {
	from, err := f.campaigns.get(id)
	if err != nil {
		return campaigns.CreatedCampaign{}, err
	}
	c := *from
	c.Meta, c.Status = domain.Meta{}, domain.CampaignDraft
	if err = change(&c); err != nil {
		return campaigns.CreatedCampaign{}, err
	}
	f.copiedStates = states
	return campaigns.CreatedCampaign{Campaign: f.campaigns.add(&c)}, nil
}

func (f *fakeServices) Campaign(_ context.Context, _ domain.Principal, id string) (*domain.Campaign, error) {
	if f.campaignErr != nil {
		return nil, f.campaignErr
	}
	return f.campaigns.get(id)
}

func (f *fakeServices) ListCampaigns(_ context.Context, _ domain.Principal, q campaigns.Query) (record.Page[*domain.Campaign], error) {
	return f.campaigns.list(q.PageQuery), nil
}

func (f *fakeServices) status(id string, to domain.CampaignStatus) (domain.CampaignStatusObject, error) {
	if f.campaignErr != nil {
		return domain.CampaignStatusObject{}, f.campaignErr
	}
	c, err := f.campaigns.get(id)
	if err != nil {
		return domain.CampaignStatusObject{}, err
	}
	if to != "" {
		c.Status = to
	}
	return domain.NewStatusObject(c, &domain.Progress{}), nil
}

func (f *fakeServices) StartCampaign(_ context.Context, _ domain.Principal, id string) (domain.CampaignStatusObject, error) {
	return f.status(id, domain.CampaignRunning)
}

func (f *fakeServices) PauseCampaign(_ context.Context, _ domain.Principal, id string) (domain.CampaignStatusObject, error) {
	return domain.CampaignStatusObject{}, domain.Errorf(domain.CodeInvalidState, "The campaign %s is a draft.", id).
		With("current_status", "draft").With("allowed_from", []string{"running", "scheduled"})
}

func (f *fakeServices) ResumeCampaign(_ context.Context, _ domain.Principal, id string) (domain.CampaignStatusObject, error) {
	return f.status(id, domain.CampaignRunning)
}

func (f *fakeServices) CancelCampaign(_ context.Context, _ domain.Principal, id string, _ bool) (domain.CampaignStatusObject, error) {
	if f.panicOnCancel {
		panic("a stumble")
	}
	return f.status(id, domain.CampaignCancelled)
}

func (f *fakeServices) CampaignStatus(_ context.Context, _ domain.Principal, id string) (*domain.CampaignStatusObject, error) {
	st, err := f.status(id, "")
	return &st, err
}

func (f *fakeServices) CampaignProgress(_ context.Context, _ domain.Principal, id string) ([]domain.ProgressMark, error) {
	if _, err := f.campaigns.get(id); err != nil {
		return nil, err
	}
	at := time.Date(2030, 4, 1, 9, 0, 0, 0, time.UTC)
	mark := func(percent int) domain.ProgressMark {
		p := &domain.Progress{CampaignID: id, Total: 100, Attempted: percent + 2, Attempts: percent + 5, Outcomes: map[domain.Outcome]int{domain.OutcomeCompleted: percent}}
		return *domain.NewProgressMark(p, at.Add(time.Duration(percent)*time.Minute))
	}
	return []domain.ProgressMark{mark(5), mark(10)}, f.campaignErr
}

func (f *fakeServices) readRows(rows iter.Seq2[domain.RawContact, error]) (contactlist.UploadSummary, error) {
	summary := contactlist.UploadSummary{UploadID: "upload_" + ulidOf(1)}
	for r, err := range rows {
		if err != nil {
			return summary, err
		}
		summary.Summary.Received++
		if f.onRow != nil {
			f.onRow(r)
		} else {
			f.contacts = append(f.contacts, r)
		}
		if r.Problem == "" && len(r.Country) > 2 {
			r.Problem = "country is no country's two letters"
		}
		if r.Problem == "" {
			summary.Summary.Accepted++
			continue
		}
		summary.Summary.Invalid++
		if len(summary.Errors) < domain.MaxContactErrors {
			summary.Errors = append(summary.Errors, domain.ContactError{Line: r.Line, Code: "invalid_row", Message: r.Problem})
		}
	}
	return summary, nil
}

func (f *fakeServices) ContactVariables(_ context.Context, _ domain.Principal, id string) ([]string, error) {
	_, err := f.campaigns.get(id)
	return []string{"first_name"}, err
}

func (f *fakeServices) UploadContacts(_ context.Context, _ domain.Principal, id string, upload contactlist.ContactRows) (contactlist.UploadSummary, error) {
	if _, err := f.campaigns.get(id); err != nil {
		return contactlist.UploadSummary{}, err
	}
	sum, err := f.readRows(upload.Rows)
	if upload.Columns != nil {
		sum.ColumnMapping = *upload.Columns
	}
	return sum, err
}

func (f *fakeServices) ListContacts(_ context.Context, _ domain.Principal, id string, _ contacts.Query) (record.Page[contactlist.Contact], error) {
	if _, err := f.campaigns.get(id); err != nil {
		return record.Page[contactlist.Contact]{}, err
	}
	return record.Page[contactlist.Contact]{Data: []contactlist.Contact{{Meta: fakeMeta("contact"), CampaignID: id, Phone: "+12025550123", Status: "pending"}}}, nil
}

func (f *fakeServices) contact(id string) contactlist.Contact {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	return contactlist.Contact{
		Meta:       domain.Meta{ID: "contact_" + ulidOf(1), Object: "contact", WorkspaceID: f.workspace.ID, Environment: domain.Live},
		CampaignID: id, Phone: "+12025550123", Status: "busy", Context: domain.Context{"name": "=Ada", "n": 7.0}, Attempts: 2, CompletedAt: &at,
	}
}

func (f *fakeServices) ExportContacts(_ context.Context, _ domain.Principal, id, status string) (contactlist.ContactsExport, error) {
	if _, err := f.campaigns.get(id); err != nil {
		return contactlist.ContactsExport{}, err
	}
	return contactlist.ContactsExport{Fields: []string{"n", "name"}, Rows: func(yield func(contactlist.Contact, error) bool) {
		if f.campaignErr != nil {
			yield(contactlist.Contact{}, f.campaignErr)
		} else if c := f.contact(id); status == "" || status == c.Status {
			yield(c, nil)
		}
	}}, nil
}

func (f *fakeServices) Contact(_ context.Context, _ domain.Principal, id, contact string) (contactlist.Contact, error) {
	if _, err := f.campaigns.get(id); err != nil {
		return contactlist.Contact{}, err
	}
	c := f.contact(id)
	if c.ID != contact {
		return contactlist.Contact{}, domain.Errorf(domain.CodeNotFound, "There is no such contact.")
	}
	return c, nil
}

func (f *fakeServices) UpdateContact(ctx context.Context, p domain.Principal, id, contact string, change func(*domain.Contact) error) (contactlist.Contact, error) {
	c, err := f.Contact(ctx, p, id, contact)
	if err != nil {
		return c, err
	}
	stored := domain.Contact{Phone: c.Phone, Context: c.Context, Timezone: c.Timezone, Country: c.Country}
	err = change(&stored)
	c.Phone, c.Context, c.Timezone, c.Country = stored.Phone, stored.Context, stored.Timezone, stored.Country
	return c, err
}

func (f *fakeServices) DeleteContact(ctx context.Context, p domain.Principal, id, contact string) error {
	_, err := f.Contact(ctx, p, id, contact)
	return err
}

func (f *fakeServices) upload(id string) *domain.Upload {
	u := &domain.Upload{CampaignID: id, Status: domain.UploadReceiving, Summary: domain.ContactsSummary{Received: 5, Accepted: 5}}
	u.Meta = domain.Meta{ID: "upload_" + ulidOf(1), Object: "upload", WorkspaceID: f.workspace.ID, Environment: domain.Live}
	return u
}

func (f *fakeServices) ListUploads(_ context.Context, _ domain.Principal, id string, _ record.PageQuery) (record.Page[*domain.Upload], error) {
	if _, err := f.campaigns.get(id); err != nil {
		return record.Page[*domain.Upload]{}, err
	}
	return record.Page[*domain.Upload]{Data: []*domain.Upload{f.upload(id)}}, nil
}

func (f *fakeServices) Upload(_ context.Context, _ domain.Principal, id, upload string) (*domain.Upload, error) {
	if _, err := f.campaigns.get(id); err != nil {
		return nil, err
	}
	u := f.upload(id)
	if u.ID != upload {
		return nil, domain.Errorf(domain.CodeNotFound, "There is no such upload.")
	}
	return u, nil
}

func (f *fakeServices) CampaignResults(_ context.Context, _ domain.Principal, id string) (iter.Seq2[contactlist.ResultRow, error], error) {
	if _, err := f.campaigns.get(id); err != nil {
		return nil, err
	}
	if f.results != nil {
		return f.results, nil
	}
	return func(func(contactlist.ResultRow, error) bool) {}, nil
}
