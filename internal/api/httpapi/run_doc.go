package httpapi

import (
	"net/http"

	"landfall"
	"landfall/internal/api/contract"
)

const tagRuns = "Runs"

var startRunDoc = &operationDoc{
	id: "startRun", tag: tagRuns, summary: "Start a run",
	description: "A run creates the supplier's staged accounts in the background, or only tests them with `dry_run`. All replicas share the " +
		"work. Every account is created in the same way as by the single call, with the same rules, limits, events and failures. The accounts " +
		"are selected when the run starts: everything staged by then. Failures on our side are retried with increasing delays; " +
		"failures caused by the data are not. At the end `succeeded` + `failed` + `refused` = `selected`.",
	request: requestContent("RunRequest", contract.ExampleRun),
	responses: []responseDoc{
		{http.StatusCreated, "The run. It starts automatically.", responseContent(contract.RunBody), nil},
		{http.StatusBadRequest, "The supplier already has an active run (`run_already_active`, with its `id`), does not exist " +
			"(`import_supplier_does_not_exist`), is paused or complete (`import_supplier_migration_not_ongoing`); the team does not exist " +
			"(`operations_team_does_not_exist`); or the request is not valid.", errorContent(exampleRunActive), nil},
	},
}

var runsDoc = &operationDoc{
	id: "runs", tag: tagRuns, summary: "List the runs of a supplier",
	description: "Newest first.",
	query: append([]parameter{{
		name: "import_supplier_code", description: "Code of the import supplier.", required: true,
		schema: object{{"type", "string"}}, example: "DEMO_ENERGY",
	}}, paging...),
	responses: []responseDoc{
		{http.StatusOK, "The list.", responseContent(contract.RunsBody), []string{"Link"}},
		{http.StatusBadRequest, "A query parameter is invalid.", errorContent(exampleBadLimit), nil},
		{http.StatusNotFound, "The import supplier does not exist.", errorContent(exampleNoSupplier), nil},
	},
}

var runDoc = &operationDoc{
	id: "run", tag: tagRuns, summary: "Get a run",
	description: "`WAITING`: waiting for its start time, or for its accounts to be selected. `RUNNING`: accounts are being created. `PAUSED`: `reason` " +
		"says why. `FINISHED`: every account has a result. `CANCELLED`: the run was cancelled.",
	responses: []responseDoc{
		{http.StatusOK, "The run.", responseContent(contract.RunBody), nil},
		{http.StatusNotFound, "The run does not exist.", errorContent(exampleNoRun), nil},
	},
}

var (
	pauseRunDoc = runActDoc("pauseRun", "Pause a run",
		"Accounts in progress are finished first; until then the state is still `RUNNING`. A paused run does not continue until you resume it.")
	resumeRunDoc = runActDoc("resumeRun", "Resume a paused run",
		"From then on, accounts are created on behalf of the API key that resumed the run. A `not_after` in the past is ignored.")
	cancelRunDoc = runActDoc("cancelRun", "Cancel a run",
		"Accounts in progress are finished first, and created accounts are kept. Cancelling a run again changes nothing.")
)

// runActDoc describes pausing, resuming or cancelling a run.
func runActDoc(id, summary, description string) *operationDoc {
	return &operationDoc{
		id: id, tag: tagRuns, summary: summary, description: description + " The request has no body.",
		responses: []responseDoc{
			{http.StatusOK, "The run.", responseContent(contract.RunBody), nil},
			{http.StatusBadRequest, "The run has ended (`run_already_ended`), or its supplier is paused or complete " +
				"(`import_supplier_migration_not_ongoing`).", errorContent(exampleRunEnded), nil},
			{http.StatusNotFound, "The run does not exist.", errorContent(exampleNoRun), nil},
		},
	}
}

var runFailuresDoc = &operationDoc{
	id: "runFailures", tag: tagRuns, summary: "List the accounts that failed in a run",
	description: "Each entry has the reason at the time of the run, regardless of what happened to the account since. Sorted by external account number.",
	query:       paging,
	responses: []responseDoc{
		{http.StatusOK, "The list.", responseContent(contract.FailedListBody), []string{"Link"}},
		{http.StatusBadRequest, "A query parameter is invalid, or the failures were removed because their retention period ended " +
			"(`run_details_removed`).", errorContent(exampleBadLimit), nil},
		{http.StatusNotFound, "The run does not exist.", errorContent(exampleNoRun), nil},
	},
}

var (
	exampleRunActive = &landfall.Error{
		Code: landfall.CodeRunActive, Detail: "This import supplier has a run that has not ended.",
		Members: []landfall.Member{{Name: "id", Value: "R-7K2M9QXZ"}},
	}
	exampleRunEnded = exampleError(landfall.CodeRunEnded, "This run has ended.")
	exampleNoRun    = exampleError(landfall.CodeRunNotFound, "There is no run with this id.")
)
