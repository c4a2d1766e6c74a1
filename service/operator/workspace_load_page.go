// Package operator is the service for operators of the installation: it reports the load of nodes and workspaces,
// stops dialing and drains nodes.
package operator

import (
	"cmp"
	"slices"

	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/service/record"
)

// PageWorkspaceLoads returns a page of the workspace loads in a report. The cursor is the id of the last workspace on
// the previous page.
func PageWorkspaceLoads(r *load.Report, q record.PageQuery) record.Page[*load.WorkspaceLoad] {
	from := 0
	if q.Cursor != "" {
		from, _ = slices.BinarySearchFunc(r.Workspaces, q.Cursor, func(w *load.WorkspaceLoad, id string) int { return cmp.Compare(id, w.ID) })
		if from < len(r.Workspaces) && r.Workspaces[from].ID == q.Cursor {
			from++
		}
	}
	out := record.Page[*load.WorkspaceLoad]{Data: r.Workspaces[from:min(from+q.Limit, len(r.Workspaces))]}
	if from+q.Limit < len(r.Workspaces) {
		out.Next = out.Data[len(out.Data)-1].ID
	}
	return out
}
