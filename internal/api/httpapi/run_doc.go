package httpapi

import (
	"net/http"

	"landfall"
	"landfall/internal/api/contract"
)

const tagRuns = "Runs"

var startRunDoc = &operation{
	id: "startRun", tag: tagRuns, summary: "Let the service create a supplier's staged accounts",
	description: "A run creates the supplier's staged accounts in the background, or with `dry_run` rehearses it, shared by all " +
		"replicas. Every account is created as the single call creates it: the same rules, limits, events and failures. Which accounts " +
		"is fixed when the run starts: everything staged by then. What fails for a reason of ours is tried again with growing pauses; " +
		"what fails for its data is not. At the end `succeeded` + `failed` + `refused` = `selected`.",
	request: requestContent("RunRequest", contract.ExampleRun),
	responses: []response{
		{http.StatusCreated, "The run. It starts by itself.", responseContent(contract.RunBody), nil},
		{http.StatusBadRequest, "The supplier has a run that has not ended (`run_already_active`, with its `id`), does not exist " +
			"(`import_supplier_does_not_exist`), is paused or complete (`import_supplier_migration_not_ongoing`); the team does not exist " +
			"(`operations_team_does_not_exist`); or the request is not valid.", errorContent(exampleRunActive), nil},
	},
}

var runsDoc = &operation{
	id: "runs", tag: tagRuns, summary: "The runs of a supplier",
	description: "Newest first.",
	query: append([]parameter{{
		name: "import_supplier_code", description: "Code of the import supplier.", required: true,
		schema: object{{"type", "string"}}, example: "DEMO_ENERGY",
	}}, paging...),
	responses: []response{
		{http.StatusOK, "The list.", responseContent(contract.RunsBody), []string{"Link"}},
		{http.StatusBadRequest, "A query parameter is not what it should be.", errorContent(exampleBadLimit), nil},
		{http.StatusNotFound, "There is no such import supplier.", errorContent(exampleNoSupplier), nil},
	},
}

var runDoc = &operation{
	id: "run", tag: tagRuns, summary: "How a run stands",
	description: "`WAITING`: for its time, or for its accounts to be chosen. `RUNNING`: accounts are being created. `PAUSED`: `reason` " +
		"says why. `FINISHED`: every account has an outcome. `CANCELLED`: somebody ended it before.",
	responses: []response{
		{http.StatusOK, "The run.", responseContent(contract.RunBody), nil},
		{http.StatusNotFound, "There is no such run.", errorContent(exampleNoRun), nil},
	},
}

var (
	pauseRunDoc = runActDoc("pauseRun", "Stop a run for now",
		"What is being created is finished first; until then the state stays `RUNNING`. A run that was paused so does not go on by itself.")
	resumeRunDoc = runActDoc("resumeRun", "Let a paused run go on",
		"What is created from then on is created in the name of the key that resumed it. A `not_after` that has passed holds no more.")
	cancelRunDoc = runActDoc("cancelRun", "End a run for good",
		"What is being created is finished first; what was created stays. Cancelling again changes nothing.")
)

// runActDoc describes one of the calls that stop a run or let it go on.
func runActDoc(id, summary, description string) *operation {
	return &operation{
		id: id, tag: tagRuns, summary: summary, description: description + " The call has no body.",
		responses: []response{
			{http.StatusOK, "The run.", responseContent(contract.RunBody), nil},
			{http.StatusBadRequest, "The run has ended (`run_already_ended`), or its supplier is paused or complete " +
				"(`import_supplier_migration_not_ongoing`).", errorContent(exampleRunEnded), nil},
			{http.StatusNotFound, "There is no such run.", errorContent(exampleNoRun), nil},
		},
	}
}

var runFailuresDoc = &operation{
	id: "runFailures", tag: tagRuns, summary: "The accounts that failed in a run",
	description: "With the reason each had then, by external account number, whatever became of it since.",
	query:       paging,
	responses: []response{
		{http.StatusOK, "The list.", responseContent(contract.FailedListBody), []string{"Link"}},
		{http.StatusBadRequest, "A query parameter is not what it should be.", errorContent(exampleBadLimit), nil},
		{http.StatusNotFound, "There is no such run.", errorContent(exampleNoRun), nil},
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
