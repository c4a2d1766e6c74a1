// Package actors grows the supervision tree and stops it (node.go), and is the
// desk at which the front door asks (desk*.go). It knows every actor, no HTTP
// and no disk: the store and the wire are handed in.
package actors

import (
	"context"
	"log/slog"

	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/agentruntime"
	"github.com/callboard/callboard/service/agents"
	"github.com/callboard/callboard/service/alerts"
	"github.com/callboard/callboard/service/analysis"
	"github.com/callboard/callboard/service/appointments"
	"github.com/callboard/callboard/service/bulk"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/campaigns"
	"github.com/callboard/callboard/service/contacts"
	"github.com/callboard/callboard/service/datarequests"
	"github.com/callboard/callboard/service/decisions"
	"github.com/callboard/callboard/service/dnc"
	"github.com/callboard/callboard/service/events"
	"github.com/callboard/callboard/service/exports"
	"github.com/callboard/callboard/service/jobs"
	"github.com/callboard/callboard/service/knowledge"
	"github.com/callboard/callboard/service/numbers"
	"github.com/callboard/callboard/service/operator"
	"github.com/callboard/callboard/service/pathways"
	"github.com/callboard/callboard/service/phones"
	"github.com/callboard/callboard/service/quarantine"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
	"github.com/callboard/callboard/service/recordings"
	"github.com/callboard/callboard/service/simulation"
	"github.com/callboard/callboard/service/sms"
	"github.com/callboard/callboard/service/tools"
	"github.com/callboard/callboard/service/trunks"
	"github.com/callboard/callboard/service/usage"
	"github.com/callboard/callboard/service/webhooks"
	"github.com/callboard/callboard/service/workspaces"

	"github.com/callboard/callboard/actors/storecache"
)

// Services that the desk passes on until the front door has each of them.
type (
	bulkService         = bulk.Service
	workspaceService    = workspaces.Service
	usageService        = usage.Service
	callService         = calls.Service
	eventService        = events.Service
	exportService       = exports.Service
	recordingService    = recordings.Service
	dataRequestService  = datarequests.Service
	decisionService     = decisions.Service
	simulationService   = simulation.Service
	contactService      = contacts.Service
	dncService          = dnc.Service
	agentruntimeService = agentruntime.Service
	analysisService     = analysis.Service
	agentsService       = agents.Service
	pathwaysService     = pathways.Service
	appointmentsService = appointments.Service
	knowledgeService    = knowledge.Service
	smsService          = sms.Service
	phonesService       = phones.Service
	numbersService      = numbers.Service
	trunksService       = trunks.Service
	toolsService        = tools.Service
	scripts             = agentruntime.Scripts
	campaignService     = campaigns.Service
	webhookService      = webhooks.Service
	quarantineService   = quarantine.Service
	alertService        = alerts.Service
	operatorService     = operator.Service
)

// Desk answers the front door. It commits plain records itself, guarded by
// the version it read, and asks the actors whatever they own.
type Desk struct {
	*record.Idempotency
	*accounts
	*eventService
	*exportService
	*recordingService
	*dataRequestService
	*decisionService
	*simulationService
	*campaignService
	*webhookService
	*quarantineService
	*callService
	*alertService
	*bulkService
	*operatorService
	*scripts
	*agentsService
	*contactService
	*dncService
	*pathwaysService
	*toolsService
	*agentruntimeService
	*analysisService
	*appointmentsService
	*knowledgeService
	*numbersService
	*phonesService
	*smsService
	*trunksService
	*usageService
	*workspaceService
	node  *Node
	store *storecache.Store
	log   *slog.Logger
	list  contactlist.Reader
	zones *calendar.Shared
	jobs  *jobs.Runner
}

// onCalls says whether there is a live call on this node.
func (d *Desk) onCalls() bool { return d.node.cfg.Media != nil && d.node.cfg.Media.Live() > 0 }

// StopJob stops a job that runs in the background.
func (d *Desk) StopJob(id string) { d.jobs.Stop(id) }

// resumeJobs continues what an earlier process left unfinished.
func (d *Desk) resumeJobs(ctx context.Context, workspaceID string) error {
	if err := commit.Each(ctx, d.store, "export", workspaceID, "open", d.BeginExport); err != nil {
		return err
	}
	if err := commit.Each(ctx, d.store, "data_request", workspaceID, "open", d.BeginDataRequest); err != nil {
		return err
	}
	return d.ResumeBulks(ctx, workspaceID)
}
