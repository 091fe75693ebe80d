# What one would type instead of asking the service: $1 is the repository; the working directory is empty.
set -e
git clone --quiet --depth=1 --single-branch --no-tags -- "file://$1" tree
cd tree
terraform init -input=false
terraform plan -input=false -out=tfplan
terraform show -json tfplan >plan.json
terraform apply -input=false tfplan
terraform output -json >output.json
